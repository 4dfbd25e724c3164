import { formatDuration } from '../../lib/duration.js';
import { fitItems, byteLength } from '../../lib/fit-items.js';
import { codeSpan, fenced, detailsBlock, sentenceOrCode } from '../../lib/markdown.js';
import { count, revealHidden } from '../../lib/text.js';
import { headOf, tailOf } from '../../lib/truncate.js';
import type { Check } from '../checks.js';
import { remedyPlace, remedyYaml, remediesOf } from '../remedies.js';
import type { CallRecord, RunRecord } from '../run-record.js';
import { changeNote, lineCounts } from '../change-note.js';

/** A part of a report that uses the room it is given, in bytes; empty if there is nothing to report. */
export type Section = (record: RunRecord, room: number) => string;

/** For fences, titles and notes around cut text. */
const MARGIN = 400;

/** Lines of a list, one item each, and how many are missing. */
function bulletList(items: readonly string[], room: number, noun: string): string {
  const { kept, left } = fitItems(
    items.map((item) => `- ${item}\n`),
    room - MARGIN,
  );
  return left === 0
    ? kept.join('')
    : `${kept.join('')}- … and ${left} more (${noun}); the transcript has them all\n`;
}

export const verifications: Section = ({ checks }, room) => {
  if (checks.length === 0) return '';
  const failed = checks.flatMap(({ ok, event }) => (ok === false && event?.output ? [event] : []));
  const list = bulletList(checks.map(checkLine), room / 2, 'checks');
  const share = (room - byteLength(list)) / Math.max(1, failed.length) - MARGIN;
  const outputs = failed.map(({ output = '' }, i) =>
    share < MARGIN
      ? ''
      : `\n${detailsBlock(`Output of failed check ${i + 1}`, fenced(lastOf(output, share)))}`,
  );
  return `### Checks\n\n${list}${outputs.join('')}`;
};

function checkLine({ ok, name, isCommand, message, event }: Check): string {
  const what = isCommand ? codeSpan(name, 200) : name;
  const { attempt = 1 } = event ?? {};
  const tries = attempt > 1 ? `, after ${count(attempt - 1, 'repair')}` : '';
  const mark = ok === undefined ? '➖' : ok ? '✅' : '❌';
  return `${mark} ${what} ${sentenceOrCode(message, 200)}${tries}`;
}

export const denials: Section = (record, room) => {
  const all = record.denials;
  if (all.length === 0) return '';
  const items = all.map(({ tool_id, tool_name, reason, rule, remedy }) => {
    const by = rule
      ? `, by rule ${codeSpan(rule.id, 60)} (${codeSpan(`${rule.file}:${rule.line}`, 120)})`
      : '';
    const none = remedy && 'none' in remedy && !rule ? `; ${remedy.none}` : '';
    return `${called(record.calls.get(tool_id), tool_name)}: ${sentenceOrCode(reason, 300)}${by}${none}`;
  });
  const list = bulletList(items, room / 2, 'denied calls');
  return `### Denied calls\n\n${list}${rulesBlock(record, room - byteLength(list))}`;
};

/** What a call does, and its tool's name, which policies use. */
function called(call: CallRecord | undefined, tool: string): string {
  if (!call || call.title.startsWith(tool)) return codeSpan(call?.title ?? tool, 250);
  return `${codeSpan(call.title, 200)} (${codeSpan(tool, 80)})`;
}

/** What a policy needs to allow the calls next time. Half a rule is useless. */
function rulesBlock(record: RunRecord, room: number): string {
  const { init } = record.summary;
  const { rules, helpless } = remediesOf(record.denials);
  const { kept, left } = fitItems(rules, room - 2 * MARGIN);
  if (kept.length === 0) return '';
  const which = helpless > 0 ? 'These rules would allow the others' : 'These rules would allow them';
  const more = left > 0 ? `\n${count(left, 'further rule')} would be needed; the transcript has them.\n` : '';
  return `\n${which}, in ${remedyPlace(init)}:\n\n${fenced(remedyYaml(kept, init), 'yaml')}${more}`;
}

export const pending: Section = ({ result, calls }, room) => {
  if (!result || result.pending.length === 0) return '';
  const items = result.pending.map(({ tool_call_id, tool_name, reason }) => {
    const what = called(calls.get(tool_call_id), tool_name);
    return `${what}, ${codeSpan(tool_call_id, 80)}: ${sentenceOrCode(reason, 300)}`;
  });
  const how = '\n`bosun approve` answers them, and `bosun resume` continues.\n';
  return `### Waiting for an approval\n\n${bulletList(items, room, 'waiting calls')}${how}`;
};

export const warnings: Section = ({ summary, result }, room) => {
  const all = result?.warnings ?? summary.warnings;
  if (all.length === 0) return '';
  return `### Warnings\n\n${bulletList(
    all.map((text) => sentenceOrCode(text, 300)),
    room,
    'warnings',
  )}`;
};

export const answer: Section = ({ result }, room) => {
  if (!result?.response) return '';
  const text = firstOf(result.response, room - MARGIN);
  return detailsBlock('Answer', fenced(text, 'markdown'), { open: true });
};

export const files: Section = ({ summary }, room) => {
  const { changes } = summary;
  if (!changes || changes.length === 0) return '';
  const items = changes.map((change) => {
    const note = changeNote(change);
    return [codeSpan(change.path, 300), lineCounts(change, '−'), note && `(${sentenceOrCode(note, 300)})`]
      .filter(Boolean)
      .join(' ');
  });
  return `### Files changed\n\n${bulletList(items, room, 'files')}`;
};

export const patch: Section = ({ result }) => {
  if (!result?.patch) return '';
  const { file, files: number, bytes, rejected, redacted } = result.patch;
  const fault = rejected ? ', not what the policy allows' : redacted ? ', with secrets redacted' : '';
  return `Patch: ${codeSpan(file, 300)}, ${count(number, 'file')}, ${count(bytes, 'byte')}${fault}\n`;
};

/** The rules that the run needed, if they were asked for. */
export const learnt: Section = ({ result }, room) => {
  const lesson = result?.learnt;
  if (!lesson) return '';
  const note = `The whole policy is in ${codeSpan(lesson.file, 300)}, for review.\n`;
  if (lesson.rules === '') return `This run needs no rules beyond the mode plan. ${note}`;
  return detailsBlock(
    'This run needs these rules',
    `${fenced(firstOf(lesson.rules, room - MARGIN), 'yaml')}\n${note}`,
  );
};

/** All calls in order. */
export const calls: Section = ({ calls: all }, room) => {
  if (all.size === 0) return '';
  const list = bulletList([...all.values()].map(callLine), room - MARGIN, 'calls');
  return detailsBlock(`Calls (${all.size})`, list);
};

function callLine({ title, turn, result, decision }: CallRecord): string {
  const time = result ? `, ${formatDuration(result.duration_ms)}` : '';
  return `${markOf(result)} ${turn + 1}: ${codeSpan(title, 200)}${callFault(result, decision)}${time}`;
}

function markOf(result: CallRecord['result']): string {
  if (!result) return '…';
  return result.status === 'success' ? '✓' : '✗';
}

function callFault(result: CallRecord['result'], decision: CallRecord['decision']): string {
  if (!result) return decision?.decision === 'ask' ? ', not answered' : ', not finished';
  const { error, process } = result;
  // The reason is shown elsewhere.
  if (error?.type === 'policy_denied' || error?.type === 'approval_denied') return ', denied';
  if (error) return `, ${error.type}: ${sentenceOrCode(error.message, 160)}`;
  return process?.exit_code ? `, exit ${process.exit_code}` : '';
}

/** What calls changed, in order: a file may appear more than once. */
export const diff: Section = ({ calls: all }, room) => {
  const diffs = [...all.values()].flatMap(({ result }) => result?.change?.diff ?? []);
  if (diffs.length === 0) return '';
  // Hunk by hunk: half a hunk cannot be read.
  const hunks = diffs.flatMap((text) => endLine(revealHidden(text)).split(/^(?=@@ )/m));
  const { kept, left } = fitItems(joinHeaders(hunks), room - MARGIN);
  const note = left > 0 ? `\n… and ${count(left, 'hunk')} more; the transcript has them all.\n` : '';
  return detailsBlock('Diff', `${kept.length > 0 ? fenced(kept.join(''), 'diff') : ''}${note}`);
};

/** The lines with the name of a file belong to its first hunk. */
function joinHeaders(pieces: readonly string[]): string[] {
  const joined: string[] = [];
  let header = '';
  for (const piece of pieces) {
    if (piece.startsWith('@@ ')) {
      joined.push(header + piece);
      header = '';
    } else header += piece;
  }
  return header === '' ? joined : [...joined, header];
}

function endLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** The beginning of a text in whole lines, if it is too long. */
function firstOf(text: string, room: number): string {
  const shown = revealHidden(text);
  if (byteLength(shown) <= room) return shown;
  const { kept } = fitItems(shown.split(/(?<=\n)/), room);
  // A line longer than all the room is cut in the middle.
  const part = kept.length > 0 ? kept.join('') : headOf(shown, Math.max(0, room / 4));
  return `${part}\n[… ${shown.length - part.length} characters are left out here …]`;
}

/** The end of a text, which usually says what happened. */
function lastOf(text: string, room: number): string {
  const shown = revealHidden(text);
  if (byteLength(shown) <= room) return shown;
  const { kept } = fitItems(shown.split(/(?<=\n)/).toReversed(), room);
  const part = kept.length > 0 ? kept.toReversed().join('') : tailOf(shown, Math.max(0, room / 4));
  return `[… ${shown.length - part.length} characters are left out here …]\n${part}`;
}
