import { rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { errorMessage } from '../../lib/errors.js';
import { isInside } from '../../lib/real-path.js';
import type { Launch, Launcher } from '../../protocol/process.js';
import type { SandboxLimits } from '../../protocol/sandbox.js';
import { withVariables } from '../network/variables.js';
import { SYSTEM, type Bubblewrap } from './bubblewrap.js';
import { ALTERNATES, makeFolder, obeyedIn, removeCreated } from './git-places.js';
import { guardedPlaces } from './guarded-places.js';
import { gitIdentity } from './identity.js';
import { commandInit, serverInit } from './init-script.js';
import { makePlaces, planLayout, type Layout, type LayoutSettings } from './layout.js';
import { openPrivatePlace, type PrivatePlace } from './private-place.js';
import { systemCallFilter } from './system-calls.js';
import { takeOut } from './todo-lists.js';

export interface SandboxSettings extends LayoutSettings {
  readonly bubblewrap: Bubblewrap;
  readonly limits: SandboxLimits;
  /** Where the sandbox's own files are kept while it is open. */
  readonly temporary: string;
  readonly network: NetworkMode;
  readonly onWarning: (message: string) => void;
  /** The sandbox no longer works: nothing else may be run. */
  readonly onLost: (message: string) => void;
  readonly signal: AbortSignal;
}

export interface NetworkAccess {
  /** Comes before the sandbox's own command line. */
  readonly enter: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** The network as it is, none, or a way into one that is watched. */
export type NetworkMode =
  | { readonly type: 'open' }
  | { readonly type: 'none' }
  | {
      readonly type: 'filtered';
      /** Undefined if there is none after all. */
      open(): Promise<NetworkAccess | undefined>;
      close(): void;
    };

interface Ready {
  readonly layout: Layout;
  readonly before: readonly string[];
  readonly isolation: readonly string[];
  /** The file with the filter of system calls. */
  readonly filter: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

/** How long the workspace is searched when the sandbox closes. */
const LOOK_MS = 3000;

const OBEYED = 'git would obey it (workspace.write_allow lets commands create repositories)';

/** As root, tar would try to give files to users unknown in the sandbox. */
const TAR_OPTIONS = '--no-same-owner';

/** Everything that a run starts is started in here. It is prepared when first needed. */
export class Sandbox implements Launcher {
  readonly #settings: SandboxSettings;
  #ready: Promise<Ready> | undefined;
  #isUsed = false;
  readonly #closing = new AbortController();
  #place: PrivatePlace | undefined;
  /** Made for the sandbox, to be removed when it is closed. */
  #placeholders: readonly string[] = [];

  constructor(settings: SandboxSettings) {
    this.#settings = settings;
  }

  command: Launcher['command'] = (program, directory, environment) =>
    this.#launch(commandInit(program, this.#settings.limits), directory, environment, 4);

  server: Launcher['server'] = (program, directory, environment) =>
    this.#launch(serverInit(program, this.#settings.limits), directory, environment, 3);

  ended: Launcher['ended'] = async () => {
    const ready = await this.#ready?.catch(() => undefined);
    if (ready) this.#sweep(ready.layout);
  };

  lost: Launcher['lost'] = (message) => this.#settings.onLost(message);

  async close(): Promise<void> {
    const { network } = this.#settings;
    if (network.type === 'filtered') network.close();
    // What is still being prepared is no longer needed.
    if (!this.#isUsed) this.#closing.abort();
    const ready = await this.#ready?.catch(() => undefined);
    if (ready && this.#isUsed) {
      this.#sweep(ready.layout);
      await this.#sweepAll(ready.layout);
    }
    // Unless they are in use by now.
    for (const path of this.#placeholders) attempt(() => rmdirSync(path));
    await this.#place?.remove();
  }

  async #launch(
    program: readonly string[],
    directory: string,
    environment: Readonly<Record<string, string>>,
    descriptor: number,
  ): Promise<Launch> {
    const { bubblewrap } = this.#settings;
    this.#isUsed = true;
    const { layout, before, isolation, filter, environment: own } = await this.#furnished();
    // Another run in the same workspace may have taken them for its own and removed them.
    for (const path of this.#placeholders.toReversed()) makeFolder(path);
    const filtering = filter === undefined ? [] : ['--seccomp', String(descriptor)];
    const options = [...isolation, ...filtering, ...SYSTEM, ...layout.plan.arguments(), '--chdir', directory];
    return {
      program: [...before, bubblewrap.file, ...options, '--', ...program],
      directory: '/',
      environment: withVariables(environment, own),
      ...(filter !== undefined && { open: filter }),
    };
  }

  #furnished(): Promise<Ready> {
    this.#ready ??= this.#furnish();
    return this.#ready;
  }

  async #furnish(): Promise<Ready> {
    const settings = this.#settings;
    const { environment, roots, network, bubblewrap } = settings;
    const signal = AbortSignal.any([settings.signal, this.#closing.signal]);
    const place = openPrivatePlace(settings.temporary);
    this.#place = place;
    this.#placeholders = makePlaces(settings);
    const [layout, identity, net] = await Promise.all([
      planLayout(settings, place, signal),
      gitIdentity(environment, roots[0], signal),
      network.type === 'filtered' ? network.open() : undefined,
    ]);
    // Then the search for what must be hidden is incomplete.
    if (signal.aborted) throw new Error('the run is over');
    place.keep(join('home', '.gitconfig'), identity);
    const filter = systemCallFilter(process.arch);
    return {
      layout,
      before: net?.enter ?? [],
      filter: filter && place.keep('system-calls', filter),
      isolation: [...bubblewrap.isolation, ...(network.type === 'open' || net ? [] : ['--unshare-net'])],
      environment: {
        TMPDIR: '/tmp',
        ...(process.getuid?.() === 0 && { TAR_OPTIONS }),
        ...net?.environment,
      },
    };
  }

  #sweep({ absent, forbidden }: Layout): void {
    this.#remove(forbidden, 'the policy protects it');
    const isAlternates = (path: string) => path.endsWith(ALTERNATES);
    this.#remove(absent.filter(isAlternates), 'it would make git read objects of other repositories');
    this.#remove(
      absent.filter((path) => !isAlternates(path)),
      'it would make git run other code',
    );
  }

  /** Programs that ask git about the workspace ask about repositories in it, too, which can answer with a program. */
  async #sweepAll({ known, todo }: Layout): Promise<void> {
    const { roots, boundary, reserved, onWarning } = this.#settings;
    const look = AbortSignal.timeout(LOOK_MS);
    // Only the run itself can have made something in here.
    const own = reserved.filter((path) => boundary.protects(path));
    const isNew = (path: string) => !known.has(path) && !own.some((folder) => isInside(folder, path));
    for (const root of roots.filter((one) => !boundary.protects(one))) {
      const { git, bare, links, executed } = await guardedPlaces(root, boundary, look);
      this.#remove(git.filter(isNew), OBEYED);
      this.#remove(bare.filter(isNew).flatMap(obeyedIn), OBEYED);
      this.#remove([...links, ...executed].filter(isNew), 'the policy protects it');
    }
    for (const path of this.#tried(() => takeOut(todo)) ?? [])
      onWarning(`the sandbox took commands out of ${path}: git would run them when it continues`);
    if (look.aborted)
      onWarning('the sandbox could not look for new git repositories everywhere: too many folders');
  }

  #remove(paths: readonly string[], why: string): void {
    for (const path of this.#tried(() => removeCreated(paths)) ?? [])
      this.#settings.onWarning(`the sandbox removed ${path}: ${why}`);
  }

  #tried<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#settings.onLost(`what a command left behind for git cannot be removed: ${errorMessage(error)}`);
      return undefined;
    }
  }
}
