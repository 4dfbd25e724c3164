import { isFolder } from '../../lib/folders.js';
import { accessSync, constants, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { errorMessage } from '../../lib/errors.js';
import { isInside, realPathIfSeen } from '../../lib/real-path.js';
import type { NetworkGuard } from '../../protocol/decision.js';
import { borrowedObjects } from './borrowed-objects.js';
import { Sandbox, type NetworkMode } from './sandbox.js';
import type { Bubblewrap } from './bubblewrap.js';
import { lazySandboxNetwork } from '../network/sandbox-network.js';
import type { NamedPlaces, SandboxRequest } from '../request.js';

export interface OpenedSandbox {
  readonly sandbox: Sandbox;
  /** Why its network cannot be as the policies want, if so. */
  networkFault(): Promise<string | undefined>;
}

/** A sandbox for the programs of a run. */
export function openSandbox(request: SandboxRequest, bubblewrap: Bubblewrap): OpenedSandbox {
  const { workspace, places, boundary, variables, onWarning, onLost, signal } = request;
  const { PATH: searchPath, HOME: home } = variables;
  const { network, fault } = networkIn(request, bubblewrap.file);
  const binds = bindsIn(request);
  const roots = [workspace, ...includedIn(places, workspace)] as const;
  const hidden = [...credentialFiles(request), ...hiddenOutside(request)];
  const borrowed = borrowedObjects({
    roots,
    writable: binds.bindRw,
    hides: (path) => boundary.hides(path) || hidden.some((one) => isInside(one, path)),
  });
  borrowed.faults.forEach(onWarning);
  const sandbox = new Sandbox({
    bubblewrap,
    roots,
    boundary,
    home: home && isAbsolute(home) ? resolve(home) : undefined,
    searchPath,
    programs: request.programs,
    hidden,
    borrowed: borrowed.shown,
    reserved: request.reserved.map(realPathIfSeen),
    forbidden: forbiddenIn(request),
    ...binds,
    git: request.git,
    environment: home === undefined ? {} : { HOME: home },
    limits: request.limits,
    temporary: temporaryFolder(variables['TMPDIR']),
    network,
    onWarning,
    onLost,
    signal,
  });
  return { sandbox, networkFault: fault };
}

/** Further folders that every policy allows. */
function includedIn({ include }: NamedPlaces, workspace: string): string[] {
  const lists = include.map((paths) => paths.map((path) => realPathIfSeen(resolve(workspace, path))));
  const [first = [], ...others] = lists;
  return first.filter(
    (path) => path !== '/' && isFolder(path) && others.every((list) => list.includes(path)),
  );
}

/** What every policy that has sandbox settings wants shown. */
function bindsIn({ places, workspace, variables, onWarning }: SandboxRequest) {
  const { bindRo: readable, bindRw: writable } = places;
  const home = variables['HOME'] || homedir();
  const realBind = (path: string) => realPathIfSeen(resolve(workspace, path.replace(/^~(?=\/|$)/, home)));
  const shared = (lists: readonly (readonly string[])[]) => {
    const [first = [], ...others] = lists.map((list) => list.map(realBind));
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
  const bindRw = shared(writable).filter(there);
  const bindRo = shared(writable.map((paths, i) => [...(readable[i] ?? []), ...paths])).filter(
    (path) => !bindRw.includes(path) && there(path),
  );
  return { bindRo, bindRw };
}

/** What policies protect by name, and what the run protects, whether it exists or not. */
function forbiddenIn({ places, workspace, protectedFiles }: SandboxRequest): string[] {
  return [...namedBy(places.writeDeny, workspace), ...protectedFiles];
}

/** What policies hide by name outside the workspace; inside, it is found by searching. */
function hiddenOutside({ places, workspace }: SandboxRequest): string[] {
  return namedBy(places.readDeny, workspace)
    .map(realPathIfSeen)
    .filter((path) => !isInside(workspace, path) && !isInside(path, workspace));
}

/** The places of patterns that have no wildcards but `/**` at their end. */
function namedBy(globs: readonly string[], workspace: string): string[] {
  const plain = globs.map((glob) => glob.replace(/\/\*\*$/, '')).filter((glob) => !/[*?[\]{}!()]/.test(glob));
  return plain.map((path) => resolve(workspace, path));
}

/** Variables that say where credentials are kept, and where a runner keeps its own files. */
const CREDENTIAL_FILES = [
  ...['GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_GHA_CREDS_PATH', 'CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE'],
  ...['CLOUDSDK_CONFIG', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE', 'AWS_WEB_IDENTITY_TOKEN_FILE'],
  ...['AZURE_CONFIG_DIR', 'AZURE_FEDERATED_TOKEN_FILE', 'KUBECONFIG', 'DOCKER_CONFIG', 'NETRC'],
  ...['NPM_CONFIG_USERCONFIG', 'RUNNER_TEMP', 'GITHUB_EVENT_PATH'],
];

/** A policy that passes the variable on wants the file used. */
function credentialFiles({ passed, variables, workspace }: SandboxRequest): string[] {
  const paths = CREDENTIAL_FILES.filter((name) => !passed.includes(name)).flatMap(
    (name) => variables[name]?.split(delimiter) ?? [],
  );
  return paths
    .filter((path) => isAbsolute(path) && !isInside(realPathIfSeen(path), workspace))
    .map(realPathIfSeen);
}

interface Network {
  readonly network: NetworkMode;
  /** Why it cannot be as the policies want, if so. */
  fault(): Promise<string | undefined>;
}

/** All guards must allow a host. An untrusted run reaches none. */
function networkIn(request: SandboxRequest, bwrap: string): Network {
  const { network, untrusted, onNetwork, onWarning } = request;
  const plain = (type: 'open' | 'none') => ({ network: { type }, fault: async () => undefined });
  if (untrusted) return plain('none');
  if (typeof network === 'string') return plain(network);
  const guards = network();
  const guard: NetworkGuard = {
    fault: (url) => guards.map((one) => one.fault(url)).find((fault) => fault !== undefined),
    allowsPrivate: (url) => guards.every((one) => one.allowsPrivate(url)),
  };
  const watched = lazySandboxNetwork({ bwrap, guard, onDecision: onNetwork });
  let isClosed = false;
  const close = () => {
    isClosed = true;
    watched.close();
  };
  const open = () =>
    watched.open().catch((error: unknown) => {
      if (!isClosed) onWarning(`commands have no network at all: ${errorMessage(error)}`);
      return undefined;
    });
  return {
    network: { type: 'filtered', open, close },
    fault: () => watched.open().then(() => undefined, errorMessage),
  };
}

/** Programs that make no temporary files work without one; a sandbox does not. */
function temporaryFolder(wished: string | undefined): string {
  const places = [...(wished ? [wished] : []), '/tmp', '/var/tmp', tmpdir()];
  const isUsable = (path: string) => attempt(() => (accessSync(path, constants.W_OK), true)) ?? false;
  return realPathIfSeen(places.find((path) => isFolder(path) && isUsable(path)) ?? tmpdir());
}
