import type { Stats } from 'node:fs';
import type { DecodedText } from '../../lib/encoding.js';
import type { ToolError } from '../../protocol/tool-error.js';
import type { Confirmation, ToolReport } from '../../protocol/tool.js';
import { fileChange } from './diff.js';
import { saveText } from './save.js';

/** What an edit will do to a file, worked out before anything is written. */
export interface EditPlan {
  readonly path: string;
  /** The path as people know it: relative to the workspace. */
  readonly shown: string;
  readonly before: string;
  readonly after: DecodedText;
  readonly existing: Stats | undefined;
  /** What the model is told when it is done. */
  readonly note: string;
}

/** What a person is asked before the edit. */
export function confirmEdit(what: string, file_path: string, plan: EditPlan | ToolError): Confirmation {
  if ('type' in plan) return { type: 'info', description: `${what} (${plan.message})` };
  const { shown, before, after, existing } = plan;
  const { diff } = fileChange(shown, existing && before, after.text);
  return { type: 'edit', file_path, old_content: before, new_content: after.text, diff };
}

export function carryOut(plan: EditPlan | ToolError): ToolReport {
  if ('type' in plan) return { ok: false, error: plan };
  const { path, shown, before, after, existing, note } = plan;
  const failure = saveText(path, shown, after, existing);
  if (failure) return failure;
  const change = fileChange(shown, existing && before, after.text);
  return { ok: true, content: `${note}\n${change.diff}`, change };
}
