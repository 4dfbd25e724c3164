import { relative } from 'node:path';
import { decodeText, type DecodedText } from '../../lib/encoding.js';
import type { Tool, ToolReport } from '../../protocol/tool.js';
import { defineTool } from '../define.js';
import { carryOut, confirmEdit, type EditPlan, type EditRefusal } from '../files/edit-plan.js';
import { uniformEnding, withEnding } from '../files/line-endings.js';
import { readBytes } from '../files/read-bytes.js';
import { SeenFiles } from '../files/seen.js';
import { calledPath } from '../files/shown-path.js';
import { escapedLook } from '../files/unescape.js';

export function writeFileTool(workspace: string, seen = new SeenFiles()): Tool {
  return defineTool(workspace, {
    name: 'write_file',
    displayName: 'Write file',
    kind: 'edit',
    traits: { takesPaths: true, standsFor: 'write', textIn: ['content'] },
    description:
      'Writes a whole file, creating it and its folders if needed. An existing file keeps its encoding, line endings and mode.',
    refuses: ['append', 'mode', 'offset', 'insert_line', 'start_line', 'end_line'],
    schema: {
      type: 'object',
      properties: {
        file_path: { type: 'string', minLength: 1, description: 'The file to write.' },
        content: { type: 'string', description: 'All of its new content.' },
      },
      required: ['file_path', 'content'],
      additionalProperties: false,
    },
    paths: ({ file_path }) => [{ path: file_path, access: 'write' }],
    describe: ({ file_path }) => `Write ${calledPath(workspace, file_path)}`,
    confirmation: ({ file_path, content }, real) =>
      confirmEdit(`Write ${file_path}`, file_path, planWrite(workspace, real, file_path, content)),
    modified: ({ file_path }, { new_content }) => ({ file_path, content: new_content }),
    execute: ({ file_path, content }, real) =>
      writeFile(planWrite(workspace, real, file_path, content), seen),
  });
}

function planWrite(workspace: string, path: string, asked: string, content: string): EditPlan | EditRefusal {
  const shown = relative(workspace, path);
  const file = readBytes(path, asked);
  if (!('bytes' in file)) {
    if (file.type !== 'file_not_found') return { path, error: file };
    return {
      path,
      shown,
      before: '',
      after: { text: content, encoding: 'utf8', bom: false },
      existing: undefined,
      note: `Created ${shown}.${escapedNote(content)}`,
    };
  }
  const old = decodeText(file.bytes);
  const ending = old && uniformEnding(old.text);
  // A byte order mark in both the file and the content is only one.
  const given = old?.bom && content.startsWith('\ufeff') ? content.slice(1) : content;
  const text = ending ? withEnding(given, ending) : given;
  const after: DecodedText = old ? { ...old, text } : { text, encoding: 'utf8', bom: false };
  const note = `Wrote ${shown}.${escapedNote(content)}`;
  return { path, shown, before: old?.text ?? '', after: widened(after), existing: file, note };
}

/** The content is written as given; the model has to say whether it meant that. */
function escapedNote(content: string): string {
  const look = escapedLook(content);
  return look === undefined
    ? ''
    : ` Note that the content has ${look}: if it was escaped by mistake, write it again as it should be in the file.`;
}

/** Old single-byte files become UTF-8 if the new content needs it: all of the content is new anyway. */
function widened(after: DecodedText): DecodedText {
  const fits = after.encoding !== 'latin1' || !/[^\u0000-\u00ff]/.test(after.text);
  return fits ? after : { ...after, encoding: 'utf8' };
}

function writeFile(plan: EditPlan | EditRefusal, seen: SeenFiles): ToolReport {
  if ('error' in plan || !plan.existing || !isUnchanged(plan)) return carryOut(plan, seen);
  seen.saw(plan.path, plan.existing);
  return { ok: true, content: `${plan.shown} is unchanged: it already has this content.` };
}

function isUnchanged({ before, after, existing }: EditPlan): boolean {
  // A binary file has no text, whatever its length.
  return before === after.text && (before !== '' || existing?.bytes.length === 0);
}
