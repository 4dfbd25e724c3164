import type { DecodedText } from '../../lib/encoding.js';
import type { FileBytes } from '../../lib/regular-file.js';
import type { ToolError } from '../../protocol/tool-error.js';
import type { Confirmation, ToolReport } from '../../protocol/tool.js';
import { currentSlice } from './current-slice.js';
import { fileChange } from '../../lib/line-diff.js';
import { saveText } from './save.js';
import type { SeenFiles } from './seen.js';

/** What an edit will do to a file, determined before anything is written. */
export interface EditPlan {
  readonly path: string;
  /** The path as people know it: relative to the workspace. */
  readonly shown: string;
  readonly before: string;
  readonly after: DecodedText;
  readonly existing: FileBytes | undefined;
  /** What the model is told when it is done. */
  readonly note: string;
}

/** Why an edit is not possible, and of which text it was to be. */
export interface EditRefusal {
  readonly path: string;
  readonly error: ToolError;
  readonly existing?: FileBytes;
  readonly text?: string;
  /** What was searched for in it. */
  readonly wanted?: string;
}

/** What a person is asked before the edit. */
export function confirmEdit(what: string, file_path: string, plan: EditPlan | EditRefusal): Confirmation {
  if ('error' in plan) return { type: 'info', description: `${what} (${plan.error.message})` };
  const { shown, before, after, existing } = plan;
  const { diff } = fileChange(shown, existing && before, after.text);
  return { type: 'edit', file_path, old_content: before, new_content: after.text, diff };
}

export function carryOut(plan: EditPlan | EditRefusal, seen: SeenFiles): ToolReport {
  if ('error' in plan) return refusedEdit(plan, seen);
  const { path, shown, before, after, existing, note } = plan;
  const hadChanged = existing !== undefined && seen.hasChanged(path, existing);
  const saved = saveText(path, shown, after, existing);
  if ('type' in saved) return refusedEdit({ path, error: saved }, seen);
  seen.saw(path, saved.file);
  const change = fileChange(shown, existing && before, after.text);
  const notes = [note];
  if (hadChanged) notes.push(CHANGED);
  if (saved.overtaken) notes.push(OVERTAKEN);
  if (existing && existing.stats.nlink > 1n) notes.push(OTHER_NAMES);
  return { ok: true, content: `${notes.join(' ')}\n${change.diff}`, change };
}

const CHANGED =
  'Note that the file had changed since you last read or wrote it, and not by your edits; the diff shows what this call really changed.';
const OVERTAKEN =
  'Note that another program wrote to the file at the same moment and its change is lost; check whether it must be made again.';
const OTHER_NAMES = 'The file had other names (hard links); those keep the old content.';

/** After this many failures of one kind, the model is shown the file itself. */
const PATIENCE = 3;

function refusedEdit({ path, error, existing, text, wanted }: EditRefusal, seen: SeenFiles): ToolReport {
  const lines = [error.message];
  if (existing && seen.hasChanged(path, existing)) {
    lines.push('The file has changed since you last read or wrote it, and not by your edits: read it again.');
  }
  const times = seen.countFailure(path, error.type);
  if (times >= PATIENCE && text !== undefined) {
    lines.push(`This has failed ${times} times in a row. ${currentSlice(text, wanted ?? '')}`);
  }
  return { ok: false, error: { type: error.type, message: lines.join('\n') } };
}
