import { headOf } from '../../../lib/truncate.js';
import type { TaskResult } from '../../journal/event.js';
import { runsText } from '../story.js';
import { formatNumber } from '../../../lib/text.js';

/** The full text is in results.jsonl, and on the page of the run. */
const RESPONSE_CHARACTERS = 2000;
const VALUE_CHARACTERS = 300;

/** What the page says about a task once its line is opened: names and values. */
export type Detail = readonly (readonly [name: string, value: string])[];

export function detailOf(result: TaskResult): Detail {
  const { values, error, response, structured_output, patch, transcript, tokens, turns } = result;
  const answer = structured_output === null ? response : JSON.stringify(structured_output, null, 2);
  const rows: [string, string | null | undefined][] = [
    ['Error', error?.message],
    ['What to do', error?.hint],
    ['Answer', answer && clipped(answer, RESPONSE_CHARACTERS)],
    ...Object.entries(values).map(([name, value]): [string, string] => [
      `{{${name}}}`,
      clipped(String(value), VALUE_CHARACTERS),
    ]),
    ['Turns', turns?.toString()],
    ['Tokens', tokens === undefined || tokens === null ? undefined : formatNumber(tokens)],
    ['Runs', runsText(result)],
    ['Attempts', result.attempts > 1 ? String(result.attempts) : null],
    ['Waited', result.waited_ms ? `${(result.waited_ms / 1000).toFixed(1)} s at the gate` : null],
    ['Patch', patch],
    ['Transcript', transcript],
    ['Key', result.key.slice(0, 12)],
  ];
  return rows.filter((row): row is [string, string] => Boolean(row[1]));
}

function clipped(text: string, most: number): string {
  return text.length > most ? `${headOf(text, most)} … (${formatNumber(text.length)} characters)` : text;
}
