import { formatDuration } from '../../lib/duration.js';
import { errorMessage } from '../../lib/errors.js';
import { orAbort } from '../../lib/or-abort.js';
import { oneLine } from '../../lib/text.js';
import type { ServerDeclaration } from '../../protocol/source.js';
import { LastLines } from './last-lines.js';
import { createListing, MAX_LISTINGS } from './listing.js';
import { openServer, type OpenSettings } from './open.js';
import type { McpClient } from './sdk.js';

export interface ConnectionSettings
  extends OpenSettings, Pick<ServerDeclaration, 'name' | 'connectTimeoutMs'> {
  /** Gets the server's messages for people. */
  readonly log: (line: string) => void;
}

const MAX_RESTARTS = 1;

/** The connection to one server. If the server ends meanwhile, it is started again, once. */
export class Connection {
  readonly lastLines: LastLines;
  readonly #settings: ConnectionSettings;
  readonly #listing;
  #client: McpClient | undefined;
  #ended: string | undefined;
  #restarts = 0;
  #closed = false;
  #reconnecting: Promise<McpClient> | undefined;
  #tellChanged: (tools: unknown[]) => void = () => {};

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.lastLines = new LastLines(settings.log);
    this.#listing = createListing({
      list: () => this.#listAgain(),
      onTooMany: () =>
        settings.log(`it has changed its tools ${MAX_LISTINGS} times: further changes are ignored`),
    });
  }

  /** How the server has ended, if it has. */
  get ended(): string | undefined {
    return this.#ended;
  }

  get mayRestart(): boolean {
    return this.#restarts < MAX_RESTARTS;
  }

  get hasResources(): boolean {
    return this.#client?.hasResources ?? false;
  }

  /** Marks the server as ended, unless it is already. */
  end(how: string): void {
    this.#ended ??= how;
  }

  onToolsChanged(listener: (tools: unknown[]) => void): void {
    this.#tellChanged = listener;
  }

  /** Resolves when a tool listing in progress is done. */
  settled(signal: AbortSignal): Promise<void> {
    return this.#listing.settled(signal);
  }

  async connect(signal: AbortSignal): Promise<unknown[]> {
    const deadline = new AbortController();
    const { connectTimeoutMs } = this.#settings;
    const late = new Error(`no answer within ${formatDuration(connectTimeoutMs)}`);
    const timer = setTimeout(() => deadline.abort(late), connectTimeoutMs);
    const either = AbortSignal.any([signal, deadline.signal]);
    this.#ended = undefined;
    try {
      const hears = {
        onNoise: (line: string) => this.lastLines.add(line),
        onToolsChanged: this.#listing.changed,
        onEnd: (how: string) => this.end(how),
      };
      this.#client = await openServer(this.#settings, hears, either);
      return await orAbort(this.#client.listTools(either), either);
    } catch (error) {
      await this.#drop();
      const why = signal.aborted ? 'cancelled' : reasonOf(deadline.signal.aborted ? late : error);
      throw new Error(this.lastLines.after(why), { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** The client for a call: a new one if the server has ended meanwhile. */
  async living(signal: AbortSignal): Promise<McpClient> {
    if (this.#client && this.#ended === undefined) return this.#client;
    this.#reconnecting ??= this.#reconnect(signal).finally(() => (this.#reconnecting = undefined));
    return orAbort(this.#reconnecting, signal);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#listing.stop();
    await this.#client?.close();
  }

  async #reconnect(signal: AbortSignal): Promise<McpClient> {
    if (this.#closed || !this.mayRestart) throw new Error(`it has ended (${this.#ended})`);
    this.#restarts++;
    this.#settings.log(`it has ended (${this.#ended}) and is started again`);
    await this.#client?.close();
    this.#client = undefined;
    this.#tellChanged(await this.connect(signal));
    return this.#client as unknown as McpClient;
  }

  async #drop(): Promise<void> {
    const opened = this.#client;
    this.#client = undefined;
    await opened?.close();
  }

  async #listAgain(): Promise<void> {
    const stop = AbortSignal.timeout(this.#settings.connectTimeoutMs);
    try {
      if (this.#client) this.#tellChanged(await orAbort(this.#client.listTools(stop), stop));
    } catch (error) {
      this.#settings.log(`its new list of tools is not available: ${reasonOf(error)}`);
    }
  }
}

/** What went wrong, with the reason that `fetch` hides. */
export function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const inner = cause === undefined ? '' : ` (${(cause as { code?: string }).code ?? errorMessage(cause)})`;
  return oneLine(`${errorMessage(error)}${inner}`, 1000).replace(/\.$/, '');
}
