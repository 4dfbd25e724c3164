import { relative } from 'node:path';
import type { Stats } from 'node:fs';
import { decodeText, type DecodedText } from '../../lib/encoding.js';
import type { Tool, ToolReport } from '../../protocol/tool.js';
import type { ToolError } from '../../protocol/tool-error.js';
import { defineTool } from '../define.js';
import { fileChange } from '../files/diff.js';
import { uniformEnding, withEnding } from '../files/line-endings.js';
import { readBytes } from '../files/read-bytes.js';
import { saveText } from '../files/save.js';

export function writeFileTool(workspace: string): Tool {
  return defineTool(workspace, {
    name: 'write_file',
    displayName: 'Write file',
    kind: 'edit',
    description:
      'Writes a whole file, creating it and its folders if needed. An existing file keeps its encoding, line endings and mode.',
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
    describe: ({ file_path }) => `Write ${file_path}`,
    confirmation: ({ file_path, content }, real) => {
      const plan = planWrite(workspace, real, file_path, content);
      if ('type' in plan) return { type: 'info', description: `Write ${file_path} (${plan.message})` };
      return {
        type: 'edit',
        file_path,
        old_content: plan.before,
        new_content: plan.after.text,
        diff: fileChange(plan.shown, plan.existing && plan.before, plan.after.text).diff,
      };
    },
    execute: ({ file_path, content }, real) => writeFile(planWrite(workspace, real, file_path, content)),
  });
}

interface Plan {
  readonly path: string;
  /** The path as people know it: relative to the workspace. */
  readonly shown: string;
  readonly before: string;
  readonly after: DecodedText;
  readonly existing: Stats | undefined;
}

function planWrite(workspace: string, path: string, asked: string, content: string): Plan | ToolError {
  const shown = relative(workspace, path);
  const file = readBytes(path, asked);
  if (!('bytes' in file)) {
    if (file.type !== 'file_not_found') return file;
    return {
      path,
      shown,
      before: '',
      after: { text: content, encoding: 'utf8', bom: false },
      existing: undefined,
    };
  }
  const old = decodeText(file.bytes);
  const ending = old && uniformEnding(old.text);
  // A mark that the file has and the content brings along is one mark.
  const given = old?.bom && content.startsWith('\ufeff') ? content.slice(1) : content;
  const text = ending ? withEnding(given, ending) : given;
  const after: DecodedText = old ? { ...old, text } : { text, encoding: 'utf8', bom: false };
  return { path, shown, before: old?.text ?? '', after: widened(after), existing: file.stats };
}

/** Old single-byte files become UTF-8 when the new content needs it: the whole content is new anyway. */
function widened(after: DecodedText): DecodedText {
  const fits = after.encoding !== 'latin1' || !/[^\u0000-\u00ff]/.test(after.text);
  return fits ? after : { ...after, encoding: 'utf8' };
}

function writeFile(plan: Plan | ToolError): ToolReport {
  if ('type' in plan) return { ok: false, error: plan };
  const { path, shown, before, after, existing } = plan;
  if (existing && before === after.text && (before !== '' || existing.size === 0)) {
    return { ok: true, content: `${shown} is unchanged: it already has this content.` };
  }
  const failure = saveText(path, shown, after, existing);
  if (failure) return failure;
  const change = fileChange(shown, existing && before, after.text);
  const verb = existing ? 'Wrote' : 'Created';
  return { ok: true, content: `${verb} ${shown}.\n${change.diff}`, change };
}
