import { dirname, join, resolve } from 'node:path';
import { errorMessage, plainReason } from '../lib/errors.js';
import { makeFolders } from '../lib/folders.js';
import { globMatcher } from '../lib/glob.js';
import { sha256 } from '../lib/ids.js';
import { LateFile, PRIVATE } from '../lib/late-file.js';
import { realPath } from '../lib/real-path.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { count } from '../lib/text.js';
import { cancelOutcome, failure, type Outcome } from '../protocol/outcome.js';
import { configProblem } from '../protocol/problem.js';
import type { NetChange, PatchLimits, PatchReport } from '../protocol/success.js';
import type { ChangeWatch } from './changes/watch.js';
import type { Patch } from './changes/seen.js';
import type { NetLook } from './changes/net-changes.js';
import { lookDeadline } from './look-deadline.js';
import type { SuccessSession } from './settings.js';
import { warning } from '../protocol/warning.js';

export interface PatchSettings {
  readonly changes: ChangeWatch;
  /** Where to write it, if it is wanted as a file and not only measured. */
  readonly file: LateFile | undefined;
  /** The limits of each policy. */
  readonly limits: readonly PatchLimits[];
  readonly session: SuccessSession;
  /** Fires when the run is asked to end. */
  readonly cancel: AbortSignal | undefined;
}

export interface Conclusion {
  readonly outcome: Outcome;
  readonly report?: PatchReport;
  /** Absent if the changes of the run are unknown. */
  readonly changes?: readonly NetChange[];
}

const PATIENCE_MS = 5 * 60_000;

/** Opens the file for a patch before the run, so that it is known if that cannot be written. */
export function openPatchFile(path: string, taken: readonly string[]): LateFile {
  let file: LateFile;
  try {
    makeFolders(dirname(resolve(path)), 0o700);
    file = new LateFile(path);
  } catch (error) {
    throw configProblem('patch_out', `--patch-out ${path} cannot be written: ${plainReason(error)}`);
  }
  if (taken.some((other) => realPath(other) === file.path))
    throw configProblem('patch_out', `--patch-out ${path} is a file that is also used for something else`);
  return file;
}

/** Writes what the run has changed, however it ended, and checks it against the limits of the policies. */
export async function concludePatch(outcome: Outcome, settings: PatchSettings): Promise<Conclusion> {
  const { changes, session, cancel } = settings;
  const { stop, release } = lookDeadline(outcome, cancel, PATIENCE_MS);
  try {
    const look = await changes.look(stop, true);
    return { ...settlePatch(outcome, look, settings), changes: look.changes };
  } catch (error) {
    const message = `there is no patch: ${stop.aborted ? 'it took too long' : errorMessage(error)}`;
    if (!stop.aborted || !cancel?.aborted || outcome.status !== 'completed')
      return { outcome: unlessWorse(outcome, 'tool_infra_error', message, session) };
    session.emit(warning('patch', message));
    return { outcome: { response: outcome.response ?? '', ...cancelOutcome(cancel.reason) } };
  } finally {
    release();
  }
}

function settlePatch(outcome: Outcome, { changes, patch }: NetLook, settings: PatchSettings): Conclusion {
  const { limits, session, file } = settings;
  if (!patch) return { outcome };
  const warn = (message: string) => session.emit(warning('patch', message));
  for (const path of patch.nested)
    warn(`${path} is a repository of its own: what was changed in it is not in the patch`);
  for (const path of patch.unreadable)
    warn(`${path} cannot be read: what was changed in it is not in the patch`);
  const inside = new Set(patch.paths);
  const held = changes.filter(({ path }) => inside.has(path));
  const isNested = (path: string) => patch.nested.some((folder) => path.startsWith(`${folder}/`));
  for (const { path } of changes)
    if (!inside.has(path) && !isNested(path))
      warn(`${path} is outside the repository: what was changed in it is not in the patch`);
  const { bytes, redacted } = redactedBytes(patch.bytes, session.redactor);
  if (redacted) warn('secrets were redacted in the patch: it may not apply as it is');
  const size = { files: held.length, bytes: bytes.length };
  const measures = { ...size, sha256: sha256(bytes), ...(redacted && { redacted }) };
  const faults = [...new Set(limits.flatMap((limit) => faultsOf(patch, bytes.length, limit)))];
  const kept = join(session.outputs, 'run.patch');
  if (limits.length > 0) {
    const message = faults.join('; ') || `${count(held.length, 'file')}, ${bytes.length} bytes`;
    const ok = faults.length === 0;
    session.emit({ type: 'verification', condition: 'patch', ok, attempt: 1, message, duration_ms: 0 });
  }
  if (faults.length > 0) {
    makeFolders(dirname(kept), 0o700);
    new LateFile(kept, PRIVATE).write([bytes]);
    const message = `the policy does not allow these changes: ${faults.join('; ')}; the patch is kept in ${kept}`;
    const report: PatchReport = { file: kept, ...measures, rejected: true };
    return { outcome: unlessWorse(outcome, 'unverified', message, session), report };
  }
  if (!file) return { outcome };
  try {
    file.write([bytes]);
    return { outcome, report: { file: file.path, ...measures } };
  } catch (error) {
    makeFolders(dirname(kept), 0o700);
    new LateFile(kept, PRIVATE).write([bytes]);
    const message = `the patch cannot be written to ${file.path}: ${plainReason(error)}; it is kept in ${kept}`;
    const report: PatchReport = { file: kept, ...measures };
    return { outcome: unlessWorse(outcome, 'tool_infra_error', message, session), report };
  }
}

/** Ends a run that would have been a success; one that has failed already only mentions it. */
function unlessWorse(
  outcome: Outcome,
  status: 'unverified' | 'tool_infra_error',
  message: string,
  session: SuccessSession,
): Outcome {
  if (outcome.status !== 'completed') {
    session.emit(warning('patch', message));
    return outcome;
  }
  const { response = '', structured } = outcome;
  const value = structured !== undefined && { structured };
  return { ...failure(status, 'patch', message), response, ...value };
}

/** How many names are listed. */
const SHOWN = 10;

function faultsOf(
  { paths: changed, hidden }: Patch,
  bytes: number,
  { maxFiles, maxBytes, paths }: PatchLimits,
): string[] {
  const faults: string[] = [];
  // Both names of a renamed file count.
  if (maxFiles !== undefined && changed.length > maxFiles)
    faults.push(`${count(changed.length, 'file')}, more than patch.max_files ${maxFiles}`);
  if (maxBytes !== undefined && bytes > maxBytes)
    faults.push(`${bytes} bytes, more than patch.max_bytes ${maxBytes}`);
  const isMeant = globMatcher(paths);
  const outside = paths.length === 0 ? [] : changed.filter((path) => !isMeant(path));
  if (outside.length > 0) faults.push(`outside patch.paths: ${someOf(outside)}`);
  // What cannot be measured may exceed the limits.
  if (hidden.length > 0) faults.push(`new, and cannot be read: ${someOf(hidden)}`);
  return faults;
}

function someOf(paths: readonly string[]): string {
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '';
  return `${paths.slice(0, SHOWN).join(', ')}${more}`;
}

/** Lines of a patch may be in any encoding, so it is searched as bytes. */
function redactedBytes(
  bytes: Buffer,
  redactor: Redactor,
): { readonly bytes: Buffer; readonly redacted?: true } {
  const filter = redactor.stream();
  const clean = Buffer.concat([filter.write(bytes), filter.end()]);
  return clean.equals(bytes) ? { bytes } : { bytes: clean, redacted: true };
}
