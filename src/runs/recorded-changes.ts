import { join, relative } from 'node:path';
import type { Redactor } from '../lib/redact/redactor.js';
import type { Variables } from '../lib/redact/secrets.js';
import { changeFault, type ChangedRepository } from '../policy/protected-changes.js';
import { policyToPlay } from '../policy/recorded.js';
import type { InitEvent } from '../protocol/event.js';
import { redactorFor } from './redaction.js';

/** What the policies of a recorded run say about its changes. */
export interface RecordedRules {
  /** Why a path, from the top of the repository, may not be changed, if so. */
  readonly fault: (path: string) => string | undefined;
  readonly redactor: Redactor;
}

/** `workspace` is where the run began, maybe on another machine: its policy files may have lain in there. */
export async function recordedRules(
  init: InitEvent,
  repository: ChangedRepository,
  workspace: string,
  variables: Variables,
): Promise<RecordedRules> {
  const policy = await policyToPlay(init, { file: undefined, isAnswered: false });
  const faultHere = changeFault(policy, repository);
  const own = policy.sources.map(({ file }) => join(repository.prefix, relative(workspace, file)));
  return {
    fault: (path) =>
      faultHere(path) ?? (own.includes(path) ? `${path} is a policy that the run was under` : undefined),
    redactor: await redactorFor(variables, policy),
  };
}
