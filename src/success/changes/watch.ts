import { resolve } from 'node:path';
import { errorMessage } from '../../lib/errors.js';
import { isMutator, type Kind } from '../../protocol/kind.js';
import type { PathUse } from '../../protocol/tool.js';
import type { NetChanges, NetLook, NetSettings } from './net-changes.js';

export interface WatchSettings extends NetSettings {
  /** Whether calls of programs can change anything: if not, nothing is remembered for them. */
  readonly programsMayChange: boolean;
}

/** A call waits no longer than this until what it may change is remembered. */
const PATIENCE_MS = 15_000;

/**
 * Follows every call before and after it runs, so that the changes of the run are known in the end. Nothing is
 * loaded or looked at before a call can change something; and no call fails because of this.
 */
export class ChangeWatch {
  readonly #settings: WatchSettings;
  #net: Promise<NetChanges> | undefined;
  #unknown: string | undefined;

  constructor(settings: WatchSettings) {
    this.#settings = settings;
  }

  /** Undefined for calls that change nothing: they need not wait. */
  beforeCall(kind: Kind, paths: readonly PathUse[], signal: AbortSignal): Promise<void> | undefined {
    const written = this.#written(kind, paths);
    if (written) return this.#watched(async (net) => net.beforeTool(written));
    return isMutator(kind) && this.#settings.programsMayChange ? this.beforeProgram(signal) : undefined;
  }

  afterCall(kind: Kind, paths: readonly PathUse[]): Promise<void> | undefined {
    const written = this.#written(kind, paths);
    return written && this.#watched(async (net) => net.afterTool(written));
  }

  beforeProgram(signal: AbortSignal): Promise<void> {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    return this.#watched(async (net) => {
      try {
        await net.beforeProgram(patience);
      } catch (error) {
        // Then no program is started either.
        if (!signal.aborted)
          throw patience.aborted ? new Error('looking at all files takes too long') : error;
      }
    });
  }

  files = async (signal: AbortSignal) => (await this.#known()).files(signal);

  hasNewCommit = async (signal: AbortSignal) => (await this.#known()).hasNewCommit(signal);

  /** Throws if it is unknown. */
  async look(signal: AbortSignal, patch: boolean): Promise<NetLook> {
    const { hasPast, whole } = this.#settings;
    if (!this.#net && this.#unknown === undefined && !hasPast && !whole) return { changes: [] };
    return (await this.#known()).look(signal, { patch });
  }

  /** Real paths that a tool says it writes; undefined if it may write anything, or nothing. */
  #written(kind: Kind, paths: readonly PathUse[]): string[] | undefined {
    if (isMutator(kind) && kind !== 'edit') return undefined;
    const written = paths.filter(({ access }) => access === 'write');
    const real = written.map((use) => use.real ?? resolve(this.#settings.workspace, use.path));
    return real.length > 0 ? real : undefined;
  }

  async #watched(work: (net: NetChanges) => Promise<void>): Promise<void> {
    if (this.#unknown !== undefined) return;
    try {
      await work(await this.#known());
    } catch (error) {
      this.#unknown ??= errorMessage(error);
    }
  }

  async #known(): Promise<NetChanges> {
    if (this.#unknown !== undefined) throw new Error(this.#unknown);
    this.#net ??= import('./net-changes.js').then(({ NetChanges }) => new NetChanges(this.#settings));
    return this.#net;
  }
}
