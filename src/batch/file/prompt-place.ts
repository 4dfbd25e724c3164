import { resolve } from 'node:path';
import { plainReason } from '../../lib/errors.js';
import { readRegularFile } from '../../lib/regular-file.js';
import { findIn, type ParsedYaml } from '../../lib/yaml.js';
import { promptText } from '../../runs/input.js';
import { batchProblem, type BatchSpec } from '../spec.js';
import type { RawBatch } from './batch-file.js';

export const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** The text of the prompt, which may be given only once. */
export function promptOf(
  raw: RawBatch,
  folder: string,
  flag: string | undefined,
  fault: BatchSpec['fault'],
): string {
  const { prompt, prompt_file: file } = raw;
  if (prompt !== undefined && file !== undefined)
    throw fault(['prompt_file'], 'the prompt is given twice: by `prompt` and by `prompt_file`');
  if (flag !== undefined && (prompt ?? file) !== undefined)
    throw fault(
      [prompt === undefined ? 'prompt_file' : 'prompt'],
      'the prompt is given twice: here and by a flag',
    );
  const text = prompt ?? flag;
  if (text !== undefined) return text;
  if (file === undefined) throw fault([], '`prompt` is missing', 'Give `prompt` or `prompt_file`.');
  try {
    return withoutBom(promptText(readRegularFile(resolve(folder, file), MAX_FILE_BYTES).bytes, file));
  } catch (error) {
    throw fault(['prompt_file'], `${file} cannot be used: ${plainReason(error)}`);
  }
}

/** For a prompt in the batch file. */
export function faultInYaml(path: string, parsed: ParsedYaml & { ok: true }): BatchSpec['promptFault'] {
  return (piece, message, hint) => {
    const at = (piece && parsed.find(['prompt'], piece)) || parsed.locate(['prompt']);
    return batchProblem(`${path}:${at.line}:${at.column}: ${message}`, hint);
  };
}

/** For a prompt that is a whole file. */
export function faultInText(path: string, text: string): BatchSpec['promptFault'] {
  return (piece, message, hint) => {
    const { line, column } = findIn(text, piece) ?? { line: 1, column: 1 };
    return batchProblem(`${path}:${line}:${column}: ${message}`, hint);
  };
}

export function withoutBom(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
