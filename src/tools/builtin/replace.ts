import { relative } from 'node:path';
import { decodeText, type DecodedText } from '../../lib/encoding.js';
import { count } from '../../lib/text.js';
import type { ToolError } from '../../protocol/tool-error.js';
import type { Tool } from '../../protocol/tool.js';
import { defineTool } from '../define.js';
import { carryOut, confirmEdit, type EditPlan } from '../files/edit-plan.js';
import { explainMiss } from '../files/explain-miss.js';
import { applyMatches, findText, type Match, type Search } from '../files/find-text.js';
import { readBytes } from '../files/read-bytes.js';

interface Request {
  readonly file_path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly expected_replacements?: number;
  readonly allow_multiple?: boolean;
}

export function replaceTool(workspace: string): Tool {
  return defineTool(workspace, {
    name: 'replace',
    displayName: 'Edit file',
    kind: 'edit',
    description:
      'Replaces text in a file. old_string must be the exact text, with enough lines around it to be found once; an empty old_string creates the file.',
    schema: {
      type: 'object',
      properties: {
        file_path: { type: 'string', minLength: 1, description: 'The file to change.' },
        old_string: { type: 'string', description: 'The text to replace, to the letter.' },
        new_string: { type: 'string', description: 'What stands there instead.' },
        expected_replacements: { type: 'integer', minimum: 1, description: 'How many places to change (1).' },
        allow_multiple: { type: 'boolean', description: 'Change every place that is found.' },
      },
      required: ['file_path', 'old_string', 'new_string'],
      additionalProperties: false,
    },
    paths: ({ file_path }) => [{ path: file_path, access: 'write' }],
    describe: ({ file_path }) => `Edit ${file_path}`,
    confirmation: (request, real) =>
      confirmEdit(`Edit ${request.file_path}`, request.file_path, planEdit(workspace, real, request)),
    execute: (request, real) => carryOut(planEdit(workspace, real, request)),
  });
}

function planEdit(workspace: string, path: string, request: Request): EditPlan | ToolError {
  const { file_path, old_string, new_string } = request;
  const shown = relative(workspace, path);
  const file = readBytes(path, file_path);
  if (old_string === '') return planCreation(path, shown, new_string, file);
  if (!('bytes' in file)) return file;
  const old = decodeText(file.bytes);
  if (!old)
    return { type: 'edit_preparation_failure', message: `${shown} is a binary file and cannot be edited.` };
  if (old_string === new_string) {
    return { type: 'edit_no_change', message: 'old_string and new_string are the same.' };
  }

  const search = findText(old.text, old_string, new_string);
  const fault = judge(search, request, old.text, shown);
  if (fault) return fault;
  const text = applyMatches(old.text, search.matches);
  if (text === old.text) return { type: 'edit_no_change', message: `${shown} already reads like that.` };
  const note = `Changed ${count(search.matches.length, 'place')} in ${shown}.${toleranceNote(search)}`;
  return { path, shown, before: old.text, after: { ...old, text }, existing: file.stats, note };
}

function planCreation(
  path: string,
  shown: string,
  text: string,
  file: ReturnType<typeof readBytes>,
): EditPlan | ToolError {
  if ('bytes' in file) {
    return {
      type: 'attempt_to_create_existing_file',
      message: `${shown} exists. Give the text to replace as old_string, or use write_file.`,
    };
  }
  if (file.type !== 'file_not_found') return file;
  const after: DecodedText = { text, encoding: 'utf8', bom: false };
  return { path, shown, before: '', after, existing: undefined, note: `Created ${shown}.` };
}

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
  const many = request.allow_multiple === true && expected === undefined;
  if (matches.length === (expected ?? 1) || (many && tolerance !== 'white space')) return undefined;
  const lines = matches.slice(0, 20).map((match) => lineOf(text, match));
  const found = tolerance ? ` (but for ${tolerance})` : '';
  return {
    type: 'edit_expected_occurrence_mismatch',
    message:
      `old_string was found ${matches.length} times${found} in ${shown}, ${expected ?? 1} expected: ` +
      `at line ${lines.join(', ')}. Give more lines around the place you mean, or set expected_replacements.`,
  };
}

function lineOf(text: string, { start }: Match): number {
  return text.slice(0, start).split('\n').length;
}

function toleranceNote({ tolerance }: Search): string {
  return tolerance
    ? ` old_string did not match to the letter: its ${tolerance} differed, the file's were kept.`
    : '';
}
