import { accessSync, constants, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { errorMessage } from '../lib/errors.js';
import { isInside, realPath } from '../lib/real-path.js';
import type { PolicyDocument } from '../policy/document.js';
import type { NetworkGuard } from '../protocol/decision.js';
import type { SandboxLimits } from '../protocol/sandbox.js';
import { networkGuard } from '../policy/network.js';
import { borrowedObjects } from '../sandbox/box/borrowed-objects.js';
import { Box, type BoxNetwork } from '../sandbox/box/box.js';
import type { Bubblewrap } from '../sandbox/box/bubblewrap.js';
import { lazyNetworkBox } from '../sandbox/network/box.js';
import type { SandboxRequest } from './sandbox-request.js';
import { shellSettings } from './policies.js';

export interface OpenedBox {
  readonly box: Box;
  /** Why its network cannot be what the policies want, if so. */
  networkFault(): Promise<string | undefined>;
}

/** A box for the programs of a run. */
export function openBox(request: SandboxRequest, bubblewrap: Bubblewrap): OpenedBox {
  const { workspace, documents, policy, variables, onWarning, onLost, signal } = request;
  const { PATH: searchPath, HOME: home } = variables;
  const { network, fault } = networkIn(request, bubblewrap.file);
  const binds = bindsIn(documents, request);
  const roots = [workspace, ...includedIn(documents, workspace)] as const;
  const hidden = [...credentialFiles(request), ...hiddenOutside(request)];
  const borrowed = borrowedObjects({
    roots,
    writable: binds.bindRw,
    hides: (path) => policy.boundary.hides(path) || hidden.some((one) => isInside(one, path)),
  });
  borrowed.faults.forEach(onWarning);
  const box = new Box({
    bubblewrap,
    roots,
    boundary: policy.boundary,
    home: home && isAbsolute(home) ? resolve(home) : undefined,
    searchPath,
    programs: programsIn(documents),
    hidden,
    borrowed: borrowed.shown,
    reserved: request.reserved.map(realPlace),
    forbidden: forbiddenIn(request),
    ...binds,
    git: shellSettings(documents).git,
    environment: home === undefined ? {} : { HOME: home },
    limits: limitsIn(documents),
    temporary: temporaryFolder(variables['TMPDIR']),
    network,
    onWarning,
    onLost,
    signal,
  });
  return { box, networkFault: fault };
}

/** Further folders that every policy admits. */
function includedIn(documents: readonly PolicyDocument[], workspace: string): string[] {
  const lists = documents.map((document) =>
    document.workspace.include.map((path) => realPlace(resolve(workspace, path))),
  );
  const [first = [], ...others] = lists;
  return first.filter(
    (path) => path !== '/' && isFolder(path) && others.every((list) => list.includes(path)),
  );
}

/** What every policy that speaks of the sandbox wants shown. */
function bindsIn(documents: readonly PolicyDocument[], { workspace, variables, onWarning }: SandboxRequest) {
  const keys = documents.flatMap(({ sandbox }) => sandbox ?? []);
  const home = variables['HOME'] || homedir();
  const place = (path: string) => realPlace(resolve(workspace, path.replace(/^~(?=\/|$)/, home)));
  const shared = (lists: readonly (readonly string[])[]) => {
    const [first = [], ...others] = lists.map((list) => list.map(place));
    return first.filter((path) => others.every((list) => list.includes(path)));
  };
  const there = (path: string) => {
    const fault =
      path === '/'
        ? 'it is the whole machine'
        : attempt(() => statSync(path))
          ? undefined
          : 'it is not there';
    if (fault !== undefined) onWarning(`the sandbox cannot show ${path}: ${fault}`);
    return fault === undefined;
  };
  const bindRw = shared(keys.map((one) => one.bindRw)).filter(there);
  const bindRo = shared(keys.map((one) => [...one.bindRo, ...one.bindRw])).filter(
    (path) => !bindRw.includes(path) && there(path),
  );
  return { bindRo, bindRw };
}

/** What policies protect by name, and what the run protects, whether it is there or not. */
function forbiddenIn({ documents, workspace, protectedFiles }: SandboxRequest): string[] {
  const globs = documents.flatMap((document) => document.workspace.writeDeny);
  return [...namedBy(globs, workspace), ...protectedFiles];
}

/** What policies hide by name outside the workspace; what is inside is found by looking. */
function hiddenOutside({ documents, workspace }: SandboxRequest): string[] {
  const globs = documents.flatMap((document) => document.workspace.readDeny);
  return namedBy(globs, workspace)
    .map(realPlace)
    .filter((path) => !isInside(workspace, path) && !isInside(path, workspace));
}

/** The places of patterns that have no wildcards but `/**` at their end. */
function namedBy(globs: readonly string[], workspace: string): string[] {
  const plain = globs.map((glob) => glob.replace(/\/\*\*$/, '')).filter((glob) => !/[*?[\]{}!()]/.test(glob));
  return plain.map((path) => resolve(workspace, path));
}

/** Programs and scripts that the policies name by their place. */
function programsIn(documents: readonly PolicyDocument[]): string[] {
  const commands = documents.flatMap(({ servers, discovery }) => [
    ...servers.flatMap(({ connection }) => (connection.type === 'stdio' ? [connection.command] : [])),
    ...(discovery ? [discovery.list, discovery.call] : []),
  ]);
  return commands.flat().filter((word) => isAbsolute(word));
}

/** Variables that say where credentials are kept, and where a runner keeps its own files. */
const CREDENTIAL_FILES = [
  ...['GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_GHA_CREDS_PATH', 'CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE'],
  ...['CLOUDSDK_CONFIG', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE', 'AWS_WEB_IDENTITY_TOKEN_FILE'],
  ...['AZURE_CONFIG_DIR', 'AZURE_FEDERATED_TOKEN_FILE', 'KUBECONFIG', 'DOCKER_CONFIG', 'NETRC'],
  ...['NPM_CONFIG_USERCONFIG', 'RUNNER_TEMP', 'GITHUB_EVENT_PATH'],
];

/** Whoever passes the variable on wants the file used. */
function credentialFiles({ documents, variables, workspace }: SandboxRequest): string[] {
  const { pass } = shellSettings(documents);
  const paths = CREDENTIAL_FILES.filter((name) => !pass.includes(name)).flatMap(
    (name) => variables[name]?.split(delimiter) ?? [],
  );
  return paths.filter((path) => isAbsolute(path) && !isInside(realPlace(path), workspace)).map(realPlace);
}

function limitsIn(documents: readonly PolicyDocument[]): SandboxLimits {
  const limits: Record<string, number> = {};
  for (const { sandbox } of documents) {
    for (const [name, value] of Object.entries(sandbox?.limits ?? {}))
      limits[name] = Math.min(limits[name] ?? Infinity, value as number);
  }
  return limits;
}

interface Network {
  readonly network: BoxNetwork;
  /** Why it cannot be what the policies want, if so. */
  fault(): Promise<string | undefined>;
}

/** Every policy that speaks of the network has to allow a host. What is untrusted is told to nobody. */
function networkIn({ documents, untrusted, onNetwork, onWarning }: SandboxRequest, bwrap: string): Network {
  const networks = documents.flatMap(({ network }) => network ?? []);
  const plain = (type: 'open' | 'none') => ({ network: { type }, fault: async () => undefined });
  if (untrusted) return plain('none');
  if (networks.length === 0) return plain('open');
  if (networks.some(({ allow }) => allow.length === 0)) return plain('none');
  const guards = networks.map(networkGuard);
  const guard: NetworkGuard = {
    fault: (url) => guards.map((one) => one.fault(url)).find((fault) => fault !== undefined),
    allowsPrivate: (url) => guards.every((one) => one.allowsPrivate(url)),
  };
  const box = lazyNetworkBox({ bwrap, guard, onDecision: onNetwork });
  let isClosed = false;
  const close = () => {
    isClosed = true;
    box.close();
  };
  const open = () =>
    box.open().catch((error: unknown) => {
      if (!isClosed) onWarning(`commands have no network at all: ${errorMessage(error)}`);
      return undefined;
    });
  return {
    network: { type: 'filtered', open, close },
    fault: () => box.open().then(() => undefined, errorMessage),
  };
}

/** Programs that make no temporary files do without; a sandbox cannot. */
function temporaryFolder(wished: string | undefined): string {
  const places = [...(wished ? [wished] : []), '/tmp', '/var/tmp', tmpdir()];
  const isUsable = (path: string) => attempt(() => (accessSync(path, constants.W_OK), true)) ?? false;
  return realPlace(places.find((path) => isFolder(path) && isUsable(path)) ?? tmpdir());
}

function isFolder(path: string): boolean {
  return attempt(() => statSync(path).isDirectory()) ?? false;
}

/** Where a path leads; what we may not see is taken for what it says. */
function realPlace(path: string): string {
  return attempt(() => realPath(path)) ?? path;
}
