import { resolve } from 'node:path';
import { compareSides, type Comparison, type Side } from '../../evidence/compare/compare.js';
import { checkLimits, type LimitCheck } from '../../evidence/compare/gate.js';
import { configProblem } from '../../protocol/problem.js';
import { compareHtml } from './html.js';
import { compareMarkdown } from './markdown.js';
import { readGate } from './read-gate.js';
import { readSides } from './read-side.js';
import { compareText } from './text.js';

export interface CompareSettings {
  /** The folder of relative names. */
  readonly folder: string;
  readonly gate: string | undefined;
}

/** A comparison in every form in which it can be shown. */
export interface CompareReport {
  /** Every limit of the gate. */
  readonly holds: boolean;
  text(): string;
  json(): object;
  markdown(): string;
  html(): string;
}

/** Compares two runs, batches or folders of runs, and checks the limits of a gate file. */
export async function compareReport(
  a: string,
  b: string,
  { folder, gate }: CompareSettings,
): Promise<CompareReport> {
  const limits = gate === undefined ? undefined : readGate(resolve(folder, gate));
  const sides = await readSides(resolve(folder, a), resolve(folder, b));
  const [first, second] = sides.map((side, i): Side => ({ ...side, name: [a, b][i] as string })) as [
    Side,
    Side,
  ];
  const comparison = compareSides(first, second);
  mustOverlap(comparison);
  const checks: readonly LimitCheck[] = limits ? checkLimits(comparison, limits) : [];
  const holds = checks.every(({ ok }) => ok);
  return {
    holds,
    text: () => compareText(comparison, checks),
    json: () => ({ ...comparison, gate: limits ? { ok: holds, limits: checks } : null }),
    markdown: () => compareMarkdown(comparison, checks),
    html: () => compareHtml(comparison, checks),
  };
}

function mustOverlap({ a, b, tasks, not_ended }: Comparison): void {
  if (tasks > 0) return;
  const [message, hint] =
    not_ended.a.length + not_ended.b.length > 0
      ? ['no task has ended in both', 'Finish them first: run the same command again.']
      : [`no task of ${a.name} is in ${b.name}`, 'Tasks of batches are matched by id, other runs by prompt.'];
  throw configProblem('compare', `there is nothing to compare: ${message}`, { hint });
}
