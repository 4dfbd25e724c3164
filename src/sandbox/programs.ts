import type { RunCommand, StartServer } from '../protocol/process.js';
import { searchPathOutside } from '../lib/search-path.js';
import type { GitGuard } from './git/guard.js';
import { runCommand } from './local.js';
import { openPrograms, type Programs } from './open.js';
import type { SandboxRequest } from './request.js';
import { writableIn } from './writable.js';

export interface GuardedPrograms extends Programs {
  /** Runs a program of the user outside any sandbox. */
  readonly runOutside: RunCommand;
  readonly guardServers: (start: StartServer) => StartServer;
}

/** How the programs of a run are started: in a sandbox, if there is one, and with a git that obeys no repository. */
export async function openGuardedPrograms(request: SandboxRequest): Promise<GuardedPrograms> {
  const programs = await openPrograms(request);
  const trusted = withTrustedPath(runCommand, writableIn(request));
  if (request.git === 'repository')
    return { ...programs, runOutside: trusted, guardServers: (start) => start };
  const { active } = programs.state;
  const inside = guardFor(request, active);
  const outside = active ? guardFor(request, false) : inside;
  const runOutside: RunCommand = async (one) => (await outside()).commands(trusted)(one);
  if (!programs.canStart) return { ...programs, runOutside, guardServers: (start) => start };
  return {
    ...programs,
    runCommand: async (one) => (await inside()).commands(programs.runCommand)(one),
    runOutside,
    guardServers: (start) => async (one) => (await inside()).servers(start)(one),
  };
}

/** Otherwise a command in the sandbox gives a program of its own the name of one that runs outside. */
function withTrustedPath(run: RunCommand, writable: readonly string[]): RunCommand {
  return async (one) => {
    const { PATH } = one.environment;
    if (PATH === undefined) return run(one);
    return run({ ...one, environment: { ...one.environment, PATH: searchPathOutside(writable, PATH) } });
  };
}

function guardFor(request: SandboxRequest, isSandboxed: boolean): () => Promise<GitGuard> {
  const { environment, signal } = request;
  let guard: Promise<GitGuard> | undefined;
  return () => {
    guard ??= import('./git/guard.js').then(
      (module) =>
        new module.GitGuard({
          roots: writableIn(request),
          environment,
          isSandboxed,
          signal,
        }),
    );
    return guard;
  };
}
