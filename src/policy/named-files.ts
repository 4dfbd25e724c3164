import { resolve } from 'node:path';
import { realPath } from '../lib/real-path.js';
import type { LocatedFile, NamedFile, NamedFiles } from '../protocol/named-files.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import type { RuleSet } from './fold.js';
import { PathScope, type PathFault, type ScopeSettings } from './path-scope.js';

export type { NamedFiles } from '../protocol/named-files.js';

/**
 * The files that policies themselves read or write. Every policy's boundary applies to these as well: a name that
 * leads out of it is an error in the policy, and the run does not begin.
 */
export function namedFiles(sets: readonly RuleSet[], settings: ScopeSettings): NamedFiles {
  const scopes = sets.map(({ workspace }) => new PathScope(settings, workspace));

  function locate(file: NamedFile, access: 'read' | 'write'): LocatedFile {
    const [fault] = scopes.flatMap((scope) => scope.fault({ path: file.path, access }) ?? []);
    if (fault) throw namedFileProblem(file, reasonOf(fault));
    return { ...file, real: realPath(resolve(settings.workspace, file.path)) };
  }

  const context = sets.flatMap(({ context: files }) => files).map((file) => locate(file, 'read'));
  const memories = sets.flatMap(({ memory }) => memory ?? []).map((file) => locate(file, 'write'));
  for (const memory of memories) checkMemory(memory, memories[0] as LocatedFile, settings.workspace);
  const [memory] = memories;
  const agreed = memories.length === sets.length;
  return {
    context: context.filter(({ real }, i) => context.findIndex((other) => other.real === real) === i),
    memory: agreed ? memory : undefined,
    unused: agreed ? undefined : memory,
  };
}

function checkMemory(memory: LocatedFile, first: LocatedFile, workspace: string): void {
  // The policy means one file; a committed link may not turn it into another.
  if (memory.real !== resolve(workspace, memory.path)) {
    throw namedFileProblem(memory, `${memory.path} is reached through a symbolic link; name the file itself`);
  }
  if (memory.real !== first.real) {
    throw namedFileProblem(
      memory,
      `${memory.path} is not the memory that ${first.place} names, ${first.path}`,
    );
  }
}

function namedFileProblem({ place }: NamedFile, message: string): Problem {
  return configProblem('policy', `${place}: ${message}`);
}

function reasonOf(fault: PathFault): string {
  return 'outside' in fault ? fault.outside : fault.denied;
}
