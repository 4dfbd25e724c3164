import { count, oneLine } from '../lib/text.js';
import { formatDuration } from '../lib/duration.js';
import { xmlAttribute, xmlText } from '../lib/xml.js';
import { EXIT_CODES, TASKS_FAILED } from '../protocol/outcome.js';
import type { Drift } from './drift.js';
import type { CaseResult } from './run-cases.js';

type State = 'ok' | 'drift' | 'updated' | 'error';

/** A case that cannot be played is bad input; one that went differently is what the test is for. */
export function exitCodeOfCases(results: readonly CaseResult[]): number {
  const states = new Set(results.map(stateOf));
  if (states.has('error')) return EXIT_CODES.config_error;
  return states.has('drift') ? TASKS_FAILED.exitCode : EXIT_CODES.completed;
}

function stateOf({ drift, error, updated }: CaseResult): State {
  if (error !== undefined) return 'error';
  if (updated) return 'updated';
  return drift.length > 0 ? 'drift' : 'ok';
}

/** What became of one case. */
export function caseText(result: CaseResult): string {
  const { name, drift, error, calls, durationMs } = result;
  const state = stateOf(result).padEnd(7);
  if (error !== undefined) return `${state}  ${name}  ${oneLine(error, 2000)}\n`;
  const work = `${count(calls, 'call')}, ${formatDuration(durationMs)}`;
  return `${state}  ${name}  ${work}\n${drift.map(driftText).join('')}`;
}

export function driftText({ part, diff }: Drift): string {
  return `  ${part} (- recorded, + now)\n${diff.trimEnd().replaceAll(/^/gm, '    ')}\n`;
}

export function summaryText(results: readonly CaseResult[]): string {
  const of = (state: State) => results.filter((one) => stateOf(one) === state).length;
  const parts = [
    `${of('ok')} as recorded`,
    ...(of('updated') > 0 ? [`${of('updated')} recorded again`] : []),
    ...(of('drift') > 0 ? [`${of('drift')} different`] : []),
    ...(of('error') > 0 ? [`${of('error')} not played`] : []),
  ];
  return `${count(results.length, 'case')}: ${parts.join(', ')}\n`;
}

export function casesJson(results: readonly CaseResult[]): object {
  return {
    exit_code: exitCodeOfCases(results),
    cases: results.map((result) => {
      const { name, drift, error, calls, durationMs } = result;
      const duration_ms = Math.round(durationMs);
      return {
        name,
        status: stateOf(result),
        drift,
        calls,
        duration_ms,
        ...(error !== undefined && { error }),
      };
    }),
  };
}

export function casesJunit(results: readonly CaseResult[]): string {
  const of = (state: State) => results.filter((one) => stateOf(one) === state).length;
  const counts = [
    xmlAttribute('name', 'bosun test'),
    xmlAttribute('tests', results.length),
    xmlAttribute('failures', of('drift')),
    xmlAttribute('errors', of('error')),
    xmlAttribute('skipped', 0),
  ].join(' ');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites><testsuite ${counts}>`,
    ...results.map(junitCase),
    '</testsuite></testsuites>',
    '',
  ].join('\n');
}

function junitCase(result: CaseResult): string {
  const head = [
    xmlAttribute('classname', 'bosun test'),
    xmlAttribute('name', result.name),
    xmlAttribute('time', (result.durationMs / 1000).toFixed(3)),
  ].join(' ');
  return `<testcase ${head}>${junitFault(result)}</testcase>`;
}

function junitFault(result: CaseResult): string {
  const { drift, error } = result;
  if (error !== undefined) return `<error ${xmlAttribute('message', error)} type="case"/>`;
  if (stateOf(result) !== 'drift') return '';
  const message = xmlAttribute('message', `different: ${drift.map(({ part }) => part).join(', ')}`);
  return `<failure ${message} type="drift">${xmlText(drift.map(driftText).join(''))}</failure>`;
}
