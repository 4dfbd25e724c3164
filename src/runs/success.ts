import { acceptAll, allReviewers, schemaReviewer } from '../agent/review.js';
import { mayChange } from '../policy/may-change.js';
import type { Reviewer } from '../protocol/review.js';
import { conditionsAsked } from '../success/conditions-asked.js';
import { prepareChecks, type SuccessChecks } from '../success/prepare.js';
import type { UserShell } from '../success/settings.js';
import type { OutputSchema } from '../agent/output-schema.js';
import type { RunBase } from './run-base.js';
import { sandboxPlaces } from './sandbox.js';
import type { RunRequest } from './run-request.js';
import { writableIn } from '../sandbox/writable.js';

/** Prepares to judge a run before anything of it happens. */
export function checksFor(request: RunRequest, base: RunBase): Promise<SuccessChecks> {
  const { workspace, effective, limits, session, signal, outputRoom, resumed } = base;
  const { variables, dryRun = false, protect = [] } = request;
  const init = resumed?.recorded.init;
  return prepareChecks({
    workspace,
    session,
    conditions: conditionsAsked(effective.success, init?.success, request.verify),
    patchOut: request.patchOut ?? init?.patch_out,
    patchLimits: effective.patch,
    dryRun,
    taken: [...session.own, ...protect],
    search: {
      searchPath: variables['PATH'],
      writable: writableIn({ workspace, places: sandboxPlaces(effective), variables }),
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

/** Judges the model's final answer: first its form, then whether the work is done. */
export async function reviewerFor(
  { resumed }: RunBase,
  checks: SuccessChecks,
  { output, shell }: { readonly output: OutputSchema | undefined; readonly shell: UserShell },
): Promise<Reviewer> {
  const repairs = resumed?.rebuilt.repairs.form;
  const form = output ? schemaReviewer(output.schema, output.faultsOf, repairs) : acceptAll;
  const work = await checks.reviewer(shell);
  return work ? allReviewers(form, work) : form;
}
