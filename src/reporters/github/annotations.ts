import { isAbsolute, join } from 'node:path';
import { oneLine, sentence } from '../../lib/text.js';
import type { Denial, ResultEvent } from '../../protocol/event.js';
import type { VerificationEvent } from '../../protocol/success.js';
import type { RunRecord } from '../run-record.js';
import { withTool } from '../call-title.js';
import type { Annotation } from '../../lib/workflow-command.js';

/** GitHub shows this many of each level, and silently drops the rest. */
const MAX_SHOWN = 10;

/** What people should see of a run without opening anything. */
export function annotationsOf(record: RunRecord): Annotation[] {
  const { result } = record;
  const failed = [...record.verifications.values()].filter(({ ok }) => !ok);
  const all = [
    outcome(result),
    ...failed.flatMap((event) => verification(event, record)),
    ...record.denials.map((one) => denial(one, record)),
    ...(result?.warnings ?? record.summary.warnings).map((message) => warning(message)),
  ].filter((one) => one !== undefined);
  return [...bounded(all, 'error'), ...bounded(all, 'warning')];
}

/** The first ones of a level without repetition, and how many more there are. */
function bounded(all: readonly Annotation[], level: Annotation['level']): Annotation[] {
  const unique = new Map(all.filter((one) => one.level === level).map((one) => [JSON.stringify(one), one]));
  const own = [...unique.values()];
  if (own.length <= MAX_SHOWN) return own;
  const more = own.length - MAX_SHOWN + 1;
  const message = `${more} more are in the step summary and in the transcript.`;
  return [...own.slice(0, MAX_SHOWN - 1), { level, title: `Bosun: ${more} more ${level}s`, message }];
}

function outcome(result: ResultEvent | undefined): Annotation | undefined {
  if (!result)
    return {
      level: 'error',
      title: 'Bosun: no result',
      message: 'The run was killed, or is still running.',
    };
  const { status, reason, error, transcript } = result;
  if (status === 'completed') return undefined;
  const why = reason && reason !== status ? ` (${reason})` : '';
  const messageLines = [error?.message ?? status, error?.hint, transcript && `Transcript: ${transcript}`];
  return {
    level: 'error',
    title: `Bosun: ${status}${why}`,
    message: messageLines.filter(Boolean).join('\n'),
  };
}

/** The places that the output of a check names, or the check as a whole. */
function verification(event: VerificationEvent, record: RunRecord): Annotation[] {
  const { command, condition, message, places = [] } = event;
  const name = oneLine(command ?? condition, 100);
  const title = `Bosun: failed check ${name}`;
  if (places.length === 0) return [{ level: 'error', title, message: `${name} ${message}` }];
  return places.map(({ file, line, column, message: pointed }) => ({
    level: 'error',
    title,
    message: pointed,
    place: { file: inWorkspace(file, record) ?? file, line, ...(column !== undefined && { column }) },
  }));
}

function denial({ tool_id, tool_name, reason, rule, remedy }: Denial, record: RunRecord): Annotation {
  const call = record.calls.get(tool_id);
  const lines = [withTool(call?.title, tool_name), `Denied: ${sentence(reason)}`];
  if (remedy && 'rules' in remedy) lines.push(`This would allow it, in a policy:\n${remedy.rules}`);
  else if (remedy) lines.push(`What to do: ${sentence(remedy.none)}`);
  const file = rule ? inWorkspace(rule.file, record) : undefined;
  return {
    // What the policy tolerates does not make anything red.
    level: record.result?.status === 'completed' ? 'warning' : 'error',
    title: `Bosun: denied ${call?.title ?? tool_name}`,
    message: lines.join('\n').trimEnd(),
    ...(rule && file !== undefined && { place: { file, line: rule.line } }),
  };
}

function warning(message: string): Annotation {
  return { level: 'warning', title: 'Bosun: warning', message };
}

/** An absolute path, which a runner makes relative to the repository; undefined for a file elsewhere. */
function inWorkspace(file: string, { summary }: RunRecord): string | undefined {
  const root = summary.init?.cwd;
  if (root === undefined) return undefined;
  const path = isAbsolute(file) ? file : join(root, file);
  return path.startsWith(`${root}/`) ? path : undefined;
}
