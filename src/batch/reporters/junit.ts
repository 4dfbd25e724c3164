import { join } from 'node:path';
import { oneLine } from '../../lib/text.js';
import { xmlAttribute, xmlText } from '../../lib/xml.js';
import type { TaskResult } from '../journal/event.js';
import { classOf, hasFailed, type BatchStory } from './story.js';

/** Ends caused by the environment; the others are about the work. */
const CIRCUMSTANCES = ['internal_error', 'provider_unavailable', 'tool_infra_error'];

/** A batch as a test suite, one case per task. Tasks that have not ended are skipped. */
export function* batchJunit(story: BatchStory): Generator<string> {
  const { record, results, state } = story;
  const kinds = results.map(testKind);
  const countOf = (kind: string) => kinds.filter((one) => one === kind).length;
  const seconds = xmlAttribute('time', state.duration_ms / 1000);
  const counts = `tests="${results.length}" failures="${countOf('failure')}" errors="${countOf('error')}" skipped="${countOf('skipped')}"`;
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield `<testsuites name="bosun" ${counts} ${seconds}>\n`;
  yield `  <testsuite ${xmlAttribute('name', `bosun batch ${record.name}`)} ${counts} ${seconds}>\n`;
  for (const [i, result] of results.entries()) yield* caseLines(result, kinds[i] as Kind, story.folder);
  yield '  </testsuite>\n</testsuites>\n';
}

type Kind = 'passed' | 'failure' | 'error' | 'skipped';

function testKind(result: TaskResult): Kind {
  if (result.status === 'completed') return 'passed';
  if (!hasFailed(result)) return 'skipped';
  return CIRCUMSTANCES.includes(result.status) ? 'error' : 'failure';
}

function* caseLines(result: TaskResult, kind: Kind, folder: string): Generator<string> {
  const { id, duration_ms, error, transcript, response } = result;
  const head = `${xmlAttribute('name', oneLine(id, 250))} classname="bosun.task" time="${(duration_ms ?? 0) / 1000}"`;
  const { stability } = result;
  const properties =
    stability === null
      ? ''
      : `      <properties><property name="stability" value="${stability}"/></properties>\n`;
  if (kind === 'passed') {
    yield properties ? `    <testcase ${head}>\n${properties}    </testcase>\n` : `    <testcase ${head}/>\n`;
    return;
  }
  const message = error?.message ?? classOf(result);
  const messageAttribute = xmlAttribute('message', oneLine(message, 500));
  const where = transcript === null ? '' : `\nTranscript: ${join(folder, transcript)}`;
  const said = response === null ? '' : `\n\n${response}`;
  yield `    <testcase ${head}>\n${properties}`;
  if (kind === 'skipped') yield `      <skipped ${messageAttribute}/>\n`;
  else
    yield `      <${kind} ${messageAttribute} ${xmlAttribute('type', classOf(result))}>${xmlText(`${message}${where}${said}`)}</${kind}>\n`;
  yield '    </testcase>\n';
}
