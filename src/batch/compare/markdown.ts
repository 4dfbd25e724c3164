import type { Comparison, Switched } from '../../evidence/compare/compare.js';
import type { LimitCheck } from '../../evidence/compare/gate.js';
import { codeSpan, detailsBlock } from '../../lib/markdown.js';
import { count } from '../../lib/text.js';
import { limitText, rowsOf, scopeText } from './words.js';

/** More are in the JSON: a comment on a pull request has little room. */
const MOST_TASKS = 100;

/** For a comment or a step summary. */
export function compareMarkdown(comparison: Comparison, checks: readonly LimitCheck[]): string {
  const { a, b, lost, gained } = comparison;
  const broken = checks.filter(({ ok }) => !ok);
  const gate = checks.length === 0 ? '' : broken.length > 0 ? ': the gate is broken' : ': the gate holds';
  return [
    `## Bosun comparison${gate}\n`,
    `A is ${codeSpan(a.name)}, B is ${codeSpan(b.name)}. ${scopeText(comparison)}.\n`,
    ...broken.map((check) => `- **Broken**: ${limitText(check)}`),
    ...(broken.length > 0 ? [''] : []),
    '| | A | B | change | |',
    '| --- | --- | --- | --- | --- |',
    ...rowsOf(comparison).map((row) => `| ${row.join(' | ')} |`),
    '',
    ...list('lost', lost, true),
    ...list('gained', gained, false),
  ].join('\n');
}

function list(title: string, switched: readonly Switched[], open: boolean): string[] {
  if (switched.length === 0) return [];
  const more = switched.length - MOST_TASKS;
  const lines = switched
    .slice(0, MOST_TASKS)
    .map(({ task, a, b, flaky }) => `- ${codeSpan(task)} ${a} -> ${b}${flaky ? ' (flaky)' : ''}\n`);
  const rest = more > 0 ? `- and ${more} more\n` : '';
  return [detailsBlock(`${count(switched.length, 'task')} ${title}`, lines.join('') + rest, { open })];
}
