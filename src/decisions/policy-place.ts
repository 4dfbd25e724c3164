import { basename } from 'node:path';
import { gitFolder } from '../lib/git.js';
import { isInside } from '../lib/real-path.js';
import type { PolicyPlace } from '../policy/engines.js';
import type { EffectivePolicy } from '../policy/fold.js';
import type { Dialect } from '../policy/shell/model.js';
import { obeyedPlaces } from '../sandbox/git/obeyed-places.js';
import { shellProgram } from '../sandbox/local.js';
import { unattended } from '../tools/unattended.js';
import { childEnvironment } from '../sandbox/environment.js';
import type { Variables } from '../lib/redact/secrets.js';

/** Where policies apply. */
export function policyPlace(place: Omit<PolicyPlace, 'obeyed'>): PolicyPlace {
  const { workspace, home } = place;
  const repository = gitFolder(workspace);
  const obeyed = repository ? obeyedPlaces(repository, home) : [];
  // A repository that names the whole workspace as its hooks is ignored: nothing could be done otherwise.
  return { ...place, obeyed: obeyed.filter((path) => !isInside(path, workspace)) };
}

/** Command lines are judged by the grammar of the shell that would run them. */
export function dialectFor({ set }: EffectivePolicy['shell'], searchPath: string | undefined): () => Dialect {
  const { PATH = searchPath } = set;
  return () => (basename(shellProgram(PATH)) === 'bash' ? 'bash' : 'sh');
}

/** How command lines are read, with the variables that they see. */
export function shellFacts(
  shell: EffectivePolicy['shell'],
  variables: Variables,
  searchPath = variables['PATH'],
): Required<Pick<PolicyPlace, 'dialect' | 'variable'>> {
  let environment: Readonly<Record<string, string>> | undefined;
  const variable = (name: string) => (environment ??= unattended(childEnvironment(variables, shell)))[name];
  return { dialect: dialectFor(shell, searchPath), variable };
}
