import { appendFileSync, statSync } from 'node:fs';
import { oneLine } from '../../lib/text.js';
import { stepStatus, type RunEnd } from './outputs.js';

/** What happened, in one sentence. */
export function sentenceOf({ result, exitCode }: RunEnd): string {
  if (result === undefined) return `the run was killed (exit code ${exitCode}) before it wrote a result`;
  const { message = result.message ?? result.status, hint } = result.error ?? {};
  return oneLine(`${message.replace(/\.?$/, '.')} ${hint ?? ''}`, 2000);
}

/** The page of the run says how it ended, even if Bosun itself could not write that. */
export function summarizeBriefly(file: string, end: RunEnd): void {
  const text = sentenceOf(end).replaceAll(/[\\`*_{}[\]<>#|!~&]/g, '\\$&');
  appendFileSync(file, `## Bosun: ${stepStatus(end)}\n\n${text}\n`);
}

export function fileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
