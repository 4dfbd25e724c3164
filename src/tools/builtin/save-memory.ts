import { dirname, relative } from 'node:path';
import { decodeText } from '../../lib/encoding.js';
import { errorCode } from '../../lib/errors.js';
import { makeRealFolders } from '../../lib/folders.js';
import { withLockFile } from '../../lib/lock-file.js';
import { checkUnmoved } from '../../lib/real-path.js';
import { oneLine } from '../../lib/text.js';
import type { Confirmation, ModifiedEdit, Tool, ToolReport } from '../../protocol/tool.js';
import { defineTool } from '../define.js';
import { carryOut, confirmEdit, type EditPlan, type EditRefusal } from '../files/edit-plan.js';
import { failedReport, fsError } from '../files/fs-error.js';
import { readBytes } from '../files/read-bytes.js';
import { SeenFiles } from '../files/seen.js';
import { addFact, factLine } from '../memory/add-fact.js';

const MAX_FACT = 2000;
const NO_FILE = 'The policy names no memory.file.';
const LOCK = { waitMs: 5000, staleMs: 30_000 };

interface Request {
  readonly fact: string;
  /** What the approver wants in the file instead. Calls cannot set it. */
  readonly modified?: ModifiedEdit;
}

/** `file` is the real path of the only file that it writes; without it there is no memory. */
export function saveMemoryTool(workspace: string, file: string | undefined, seen = new SeenFiles()): Tool {
  const shown = file === undefined ? '' : relative(workspace, file);
  return defineTool(workspace, {
    name: 'save_memory',
    displayName: 'Save memory',
    kind: 'think',
    traits: { needs: 'memory' },
    description:
      'Remembers one fact for later runs in this workspace. Only what stays true and is worth knowing next time; nothing about the task at hand.',
    schema: {
      type: 'object',
      properties: {
        fact: {
          type: 'string',
          minLength: 1,
          maxLength: MAX_FACT,
          description: 'The fact, in one sentence.',
        },
      },
      required: ['fact'],
      additionalProperties: false,
    },
    check: ({ fact }) => (factLine(fact) === '' ? '`fact` is blank' : undefined),
    paths: () => (file === undefined ? [] : [{ path: shown, access: 'write' }]),
    describe: ({ fact }) => `Remember: ${fact}`,
    confirmation: ({ fact }) => confirm(fact, shown, plan(file, shown, { fact })),
    modified: ({ fact }, edit): Request => ({ fact, modified: edit }),
    execute: (request: Request, real, { signal }) => {
      if (file === undefined) return failedReport('memory_tool_execution_error', NO_FILE);
      // The decision was about the name's target; only this file counts.
      if (real !== file) return failedReport('memory_tool_execution_error', `${shown} has become a link.`);
      const edit = () => save(plan(file, shown, request), request, seen);
      return writeFact(file, shown, edit, signal);
    },
  });
}

function confirm(fact: string, shown: string, edit: EditPlan | EditRefusal): Confirmation {
  const what = `Remember: ${oneLine(fact, 100)}`;
  return isKnown(edit)
    ? { type: 'info', description: `${what} (${edit.note})` }
    : confirmEdit(what, shown, edit);
}

function isKnown(edit: EditPlan | EditRefusal): edit is EditPlan {
  return !('error' in edit) && edit.before === edit.after.text;
}

function plan(file: string | undefined, shown: string, request: Request): EditPlan | EditRefusal {
  const rejectEdit = (message: string): EditRefusal => ({
    path: shown,
    error: { type: 'memory_tool_execution_error', message },
  });
  if (file === undefined) return rejectEdit(NO_FILE);
  const found = readBytes(file, shown);
  if (!('bytes' in found) && found.type !== 'file_not_found') return { path: file, error: found };
  const existing = 'bytes' in found ? found : undefined;
  const old = existing ? decodeText(existing.bytes) : ({ text: '', encoding: 'utf8', bom: false } as const);
  if (!old) return rejectEdit(`${shown} is a binary file.`);
  const { fact, modified } = request;
  if (modified && modified.old_content !== old.text)
    return rejectEdit(`${shown} has changed since it was shown for approval. Nothing was remembered.`);
  const text = modified ? modified.new_content : addFact(old.text, factLine(fact));
  const note = text === undefined ? `Already remembered in ${shown}.` : `Remembered in ${shown}.`;
  const after = { ...old, text: text ?? old.text };
  return { path: file, shown, before: old.text, after, existing, note };
}

/** Edits in one step, even if another run does the same. */
async function writeFact(
  file: string,
  shown: string,
  edit: () => ToolReport,
  signal: AbortSignal,
): Promise<ToolReport> {
  try {
    makeRealFolders(dirname(file));
    checkUnmoved(dirname(file));
    return await withLockFile(`${file}.lock`, edit, { ...LOCK, signal });
  } catch (error) {
    if (signal.aborted) return failedReport('cancelled', 'Cancelled: the run was stopped.');
    if (errorCode(error) !== 'ELOCKED')
      return { ok: false, error: fsError(error, shown, 'memory_tool_execution_error') };
    return failedReport(
      'memory_tool_execution_error',
      `${shown} has been locked by another run for more than ${LOCK.waitMs / 1000} seconds (${shown}.lock). Nothing was remembered.`,
    );
  }
}

function save(edit: EditPlan | EditRefusal, { modified }: Request, seen: SeenFiles): ToolReport {
  if ('error' in edit) return carryOut(edit, seen);
  const { before, after, shown, note } = edit;
  if (before === after.text) return { ok: true, content: modified ? `${shown} was left as it was.` : note };
  const report = carryOut(edit, seen);
  // Without the diff, unless an approver wrote it: the model knows what it wrote.
  return report.ok && !modified ? { ...report, content: note } : report;
}
