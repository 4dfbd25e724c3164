import { acceptAll, allOf, schemaReviewer } from '../agent/review.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { mayChange } from '../policy/may-change.js';
import { configProblem } from '../protocol/problem.js';
import type { Reviewer } from '../protocol/review.js';
import type { SuccessConditions } from '../protocol/success.js';
import { prepareProof, type Proof } from '../success/prepare.js';
import type { UserShell } from '../success/settings.js';
import type { OutputSchema } from '../agent/output-schema.js';
import type { RunParts } from './run-parts.js';
import { placesOf } from './sandbox.js';
import type { RunRequest } from './settings.js';
import { writableIn } from '../sandbox/writable.js';

/** Gets ready to judge a run before anything of it happens. */
export function proofFor(request: RunRequest, parts: RunParts): Promise<Proof> {
  const { workspace, effective, limits, session, signal, outputRoom, resumed } = parts;
  const { variables, dryRun = false, protect = [] } = request;
  const init = resumed?.recorded.init;
  return prepareProof({
    workspace,
    session,
    conditions: conditionsOf(effective.success, request, init?.success),
    patchOut: request.patchOut ?? init?.patch_out,
    patchLimits: effective.patch,
    dryRun,
    taken: [...session.own, ...protect],
    search: {
      searchPath: variables['PATH'],
      writable: writableIn({ workspace, places: placesOf(effective), variables }),
    },
    programsMayChange: mayChange(effective.ruleSets),
    before: resumed && {
      baseline: resumed.recorded.init.baseline,
      lines: resumed.session.lines,
      repairs: resumed.rebuilt.repairs.success,
    },
    outputCap: limits.tool_output,
    outputRoom,
    signal,
    cancel: request.signal,
  });
}

/** What the policy with its flags, and the run before it was interrupted ask for together; undefined if nothing. */
function conditionsOf(
  { verify, requireChanges, repairs }: EffectivePolicy['success'],
  flags: Pick<RunRequest, 'verify'>,
  before: SuccessConditions | undefined,
): SuccessConditions | undefined {
  if (flags.verify?.some((command) => command.trim() === ''))
    throw configProblem('verify', '--verify has a blank command', {
      hint: 'Give a command line, or leave it out.',
    });
  const conditions = {
    verify: [...new Set([...(before?.verify ?? []), ...verify])],
    require_changes: (before?.require_changes || requireChanges) ?? false,
    repairs: Math.min(before?.repairs ?? Infinity, repairs),
  };
  return conditions.verify.length > 0 || conditions.require_changes ? conditions : undefined;
}

/** Who judges the model's last word: its form first, then whether the work is done. */
export async function reviewerFor(
  { resumed }: RunParts,
  proof: Proof,
  { output, shell }: { readonly output: OutputSchema | undefined; readonly shell: UserShell },
): Promise<Reviewer> {
  const repairs = resumed?.rebuilt.repairs.form;
  const form = output ? schemaReviewer(output.schema, output.faultsOf, repairs) : acceptAll;
  const work = await proof.reviewer(shell);
  return work ? allOf(form, work) : form;
}
