import { relative } from 'node:path';
import { describeBinary } from '../../lib/binary-type.js';
import { decodeText, type DecodedText } from '../../lib/encoding.js';
import { count } from '../../lib/text.js';
import type { ToolError } from '../../protocol/tool-error.js';
import type { Tool } from '../../protocol/tool.js';
import { defineTool } from '../define.js';
import { carryOut, confirmEdit, type EditPlan, type EditRefusal } from '../files/edit-plan.js';
import { explainMiss } from '../files/explain-miss.js';
import {
  applyMatches,
  findText,
  lengthAfter,
  MAX_PLACES,
  type Match,
  type Search,
} from '../files/find-text.js';
import { MAX_FILE_BYTES, readBytes } from '../files/read-bytes.js';
import { SeenFiles } from '../files/seen.js';
import { calledPath } from '../files/shown-path.js';

interface Request {
  readonly file_path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly expected_replacements?: number;
  readonly allow_multiple?: boolean;
}

export function replaceTool(workspace: string, seen = new SeenFiles()): Tool {
  return defineTool(workspace, {
    name: 'replace',
    displayName: 'Edit file',
    kind: 'edit',
    traits: { takesPaths: true, textIn: ['old_string', 'new_string'] },
    description:
      'Replaces text in a file. old_string must be the exact text, with enough lines around it to be found once; an empty old_string creates the file.',
    schema: {
      type: 'object',
      properties: {
        file_path: { type: 'string', minLength: 1, description: 'The file to change.' },
        old_string: { type: 'string', description: 'The exact text to replace.' },
        new_string: { type: 'string', description: 'The text to put in its place.' },
        expected_replacements: {
          type: 'integer',
          minimum: 1,
          description: 'How many matches to change (1).',
        },
        allow_multiple: { type: 'boolean', description: 'Change every match.' },
      },
      required: ['file_path', 'old_string', 'new_string'],
      additionalProperties: false,
    },
    paths: ({ file_path }) => [{ path: file_path, access: 'write' }],
    describe: ({ file_path, old_string }) =>
      `${old_string === '' ? 'Create' : 'Edit'} ${calledPath(workspace, file_path)}`,
    confirmation: (request, real) =>
      confirmEdit(`Edit ${request.file_path}`, request.file_path, planEdit(workspace, real, request)),
    modified: ({ file_path }, { old_content, new_content }) => ({
      file_path,
      old_string: old_content,
      new_string: new_content,
    }),
    execute: (request, real) => carryOut(planEdit(workspace, real, request), seen),
  });
}

function planEdit(workspace: string, path: string, request: Request): EditPlan | EditRefusal {
  const { file_path, old_string, new_string } = request;
  const shown = relative(workspace, path);
  const file = readBytes(path, file_path);
  if (old_string === '') return planCreation(path, shown, new_string, file);
  if (!('bytes' in file)) return { path, error: file };
  const old = decodeText(file.bytes);
  if (!old) return { path, error: notText(shown, file.bytes) };
  const rejectEdit = (error: ToolError): EditRefusal => ({
    path,
    error,
    existing: file,
    text: old.text,
    wanted: old_string,
  });
  if (old_string === new_string) {
    return rejectEdit({ type: 'edit_no_change', message: 'old_string and new_string are the same.' });
  }

  const search = findText(old.text, old_string, new_string);
  const fault = judge(search, request, old.text, shown);
  if (fault) return rejectEdit(fault);
  if (lengthAfter(old.text, search.matches) > MAX_FILE_BYTES) return rejectEdit(resultTooLarge(shown));
  const text = applyMatches(old.text, search.matches);
  if (text === old.text)
    return rejectEdit({ type: 'edit_no_change', message: `${shown} already contains exactly that.` });
  const note = `Changed ${count(search.matches.length, 'place')} in ${shown}.${toleranceNote(search)}`;
  return { path, shown, before: old.text, after: { ...old, text }, existing: file, note };
}

function resultTooLarge(shown: string): ToolError {
  return {
    type: 'file_too_large',
    message: `${shown} would have more than ${MAX_FILE_BYTES} bytes after that.`,
  };
}

function notText(shown: string, bytes: Buffer): ToolError {
  return {
    type: 'edit_preparation_failure',
    message: `${shown} is ${describeBinary(bytes)} and cannot be edited as text.`,
  };
}

function planCreation(
  path: string,
  shown: string,
  text: string,
  file: ReturnType<typeof readBytes>,
): EditPlan | EditRefusal {
  if ('bytes' in file) {
    const message = `${shown} exists. Give the text to replace as old_string, or use write_file.`;
    const current = decodeText(file.bytes)?.text;
    return {
      path,
      error: { type: 'attempt_to_create_existing_file', message },
      existing: file,
      ...(current !== undefined && { text: current }),
    };
  }
  if (file.type !== 'file_not_found') return { path, error: file };
  const after: DecodedText = { text, encoding: 'utf8', bom: false };
  return { path, shown, before: '', after, existing: undefined, note: `Created ${shown}.` };
}

const MAX_POSITIONS = 20;

function judge(
  { matches, tolerance }: Search,
  request: Request,
  text: string,
  shown: string,
): ToolError | undefined {
  const expected = request.expected_replacements;
  if (matches.length === 0) {
    return {
      type: 'edit_no_occurrence_found',
      message: `old_string was not found in ${shown}. ${explainMiss(text, request.old_string)}`,
    };
  }
  const tooMany = matches.length > MAX_PLACES;
  const any = request.allow_multiple === true && expected === undefined && tolerance !== 'white space';
  if (!tooMany && (any || matches.length === (expected ?? 1))) return undefined;
  const times = tooMany ? `more than ${MAX_PLACES} times` : count(matches.length, 'time');
  const found = tolerance ? ` (but for ${tolerance})` : '';
  const more = matches.length > MAX_POSITIONS ? ', …' : '';
  return {
    type: 'edit_expected_occurrence_mismatch',
    message:
      `old_string was found ${times}${found} in ${shown}, ${expected ?? 1} expected: ` +
      `at line ${linesAt(text, matches.slice(0, MAX_POSITIONS)).join(', ')}${more}. ` +
      'Give more lines around the place you mean, or set expected_replacements or allow_multiple.',
  };
}

/** The lines, from 1, on which matches begin. They come in order, so one pass is enough. */
function linesAt(text: string, matches: readonly Match[]): number[] {
  let line = 1;
  let newline = text.indexOf('\n');
  return matches.map(({ start }) => {
    for (; newline >= 0 && newline < start; newline = text.indexOf('\n', newline + 1)) line++;
    return line;
  });
}

function toleranceNote({ tolerance }: Search): string {
  if (tolerance === 'escaping')
    return ' old_string was found only without its backslash escapes (such as \\" or \\n), so both strings were unescaped; check the diff, and give text as it is.';
  return tolerance
    ? ` old_string did not match exactly: its ${tolerance} differed, the file's were kept.`
    : '';
}
