import { dirname, relative, resolve } from 'node:path';
import { readdirSync } from 'node:fs';
import { describeBinary } from '../../lib/binary-type.js';
import { decodeText } from '../../lib/encoding.js';
import { mediaTypeOf } from '../../lib/media-type.js';
import { nearest } from '../../lib/nearest.js';
import { count } from '../../lib/text.js';
import type { ToolError } from '../../protocol/tool-error.js';
import type { Tool, ToolContent, ToolReport } from '../../protocol/tool.js';
import { defineTool } from '../define.js';
import { failedReport } from '../files/fs-error.js';
import { readBytes } from '../files/read-bytes.js';
import { SeenFiles } from '../files/seen.js';
import { calledPath, pathLine } from '../files/shown-path.js';
import { selectLines, type LineRange } from '../files/select-lines.js';

interface Range {
  readonly offset?: number;
  readonly limit?: number;
  readonly start_line?: number;
  readonly end_line?: number;
}

export function readFileTool(workspace: string, seen = new SeenFiles()): Tool {
  return defineTool(workspace, {
    name: 'read_file',
    displayName: 'Read file',
    kind: 'read',
    traits: { takesPaths: true, standsFor: 'read' },
    description:
      'Reads a file: text (2,000 lines at a time, and it says how to continue), images, PDF, audio and video. Relative paths start at the workspace.',
    schema: {
      type: 'object',
      properties: {
        file_path: { type: 'string', minLength: 1, description: 'The file to read.' },
        offset: { type: 'integer', minimum: 0, description: 'First line to read, counted from 0.' },
        limit: { type: 'integer', minimum: 1, description: 'How many lines to read.' },
        start_line: { type: 'integer', minimum: 1, description: 'First line to read, counted from 1.' },
        end_line: {
          type: 'integer',
          minimum: 1,
          description: 'Last line to read, counted from 1, inclusive.',
        },
      },
      required: ['file_path'],
      additionalProperties: false,
    },
    check: checkRange,
    paths: ({ file_path }) => [{ path: file_path, access: 'read' }],
    describe: ({ file_path, ...range }) => `Read ${calledPath(workspace, file_path)}${rangeText(range)}`,
    confirmation: ({ file_path }) => ({ type: 'info', description: `Read ${file_path}` }),
    execute: (params, real) =>
      readFile({ workspace, seen, path: real, shown: params.file_path }, rangeOf(params)),
  });
}

/** ` (lines 11 to 20)`, if not all are asked for. */
function rangeText({ offset, limit, start_line, end_line }: Range): string {
  const first = start_line ?? (offset ?? 0) + 1;
  const last = end_line ?? (limit === undefined ? undefined : first + limit - 1);
  if (last !== undefined) return first === last ? ` (line ${first})` : ` (lines ${first} to ${last})`;
  return first > 1 ? ` (from line ${first})` : '';
}

function checkRange({ offset, limit, start_line, end_line }: Range): string | undefined {
  const byOffset = offset !== undefined || limit !== undefined;
  const byLine = start_line !== undefined || end_line !== undefined;
  if (byOffset && byLine) return 'give `offset` and `limit`, or `start_line` and `end_line`, not both';
  if (end_line !== undefined && end_line < (start_line ?? 1)) return '`end_line` is before `start_line`';
  return undefined;
}

function rangeOf({ offset, limit, start_line, end_line }: Range): LineRange {
  if (start_line === undefined && end_line === undefined) return { first: offset ?? 0, count: limit };
  const first = (start_line ?? 1) - 1;
  return { first, count: end_line === undefined ? undefined : end_line - first };
}

interface Request {
  readonly workspace: string;
  readonly seen: SeenFiles;
  readonly path: string;
  readonly shown: string;
}

function readFile({ workspace, seen, path, shown }: Request, range: LineRange): ToolReport {
  const file = readBytes(path, shown);
  if (!('bytes' in file)) {
    const guess = file.type === 'file_not_found' ? sibling(workspace, path) : undefined;
    return failedReport(file.type, file.message + (guess ? ` Did you mean ${guess}?` : ''));
  }
  const content = contentOf(file.bytes, shown, range);
  if ('type' in content) return { ok: false, error: content };
  seen.saw(path, file);
  return { ok: true, content: content.content };
}

function contentOf(
  bytes: Buffer,
  shown: string,
  range: LineRange,
): { readonly content: ToolContent } | ToolError {
  const mimeType = mediaTypeOf(bytes);
  if (mimeType) {
    const inlineData = { mimeType, data: bytes.toString('base64') };
    return { content: [{ inlineData, mediaName: pathLine(shown) }] };
  }
  const decoded = decodeText(bytes);
  if (!decoded) {
    const message = `${shown} is ${describeBinary(bytes)} and cannot be shown.`;
    return { type: 'read_content_failure', message };
  }
  const selected = selectLines(decoded.text, range);
  if (selected.type === 'lines') return { content: selected.text };
  const message = `${shown} has ${count(selected.total, 'line')}; line ${range.first + 1} is past its end.`;
  return { type: 'invalid_tool_params', message };
}

/** A file nearby with almost the same name. */
function sibling(workspace: string, path: string): string | undefined {
  try {
    const folder = dirname(path);
    const near = nearest(path.slice(folder.length + 1), readdirSync(folder));
    return near && relative(workspace, resolve(folder, near));
  } catch {
    return undefined;
  }
}
