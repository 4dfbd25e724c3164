import { errorMessage } from '../lib/errors.js';
import { pLimit } from '../lib/limit.js';
import { LateFile } from '../lib/late-file.js';
import { globMatcher } from '../lib/glob.js';
import { Problem } from '../protocol/problem.js';
import { join } from 'node:path';
import { caseProblem, findCases, PARTS, type Case } from './case.js';
import { driftBetween, type Drift } from './drift.js';
import { playCase, type Played, type PlaySettings } from './play.js';

export interface TestRequest extends PlaySettings {
  readonly folder: string;
  /** Globs of the names of cases; all if there are none. */
  readonly only: readonly string[];
  /** Whether to record again what differs. */
  readonly update: boolean;
  /** How many cases are played at a time. */
  readonly concurrency: number;
  readonly onCase?: (result: CaseResult) => void;
}

export interface CaseResult {
  readonly name: string;
  readonly drift: readonly Drift[];
  /** Why it could not be played. */
  readonly error?: string;
  /** It was recorded again. */
  readonly updated: boolean;
  readonly calls: number;
  readonly durationMs: number;
}

/** Plays all cases of a folder, and compares each with what was recorded. */
export async function runCases(request: TestRequest): Promise<CaseResult[]> {
  const cases = chosen(findCases(request.folder), request.only);
  const limit = pLimit(request.concurrency);
  // All are waited for, also when asked to end: each removes its scratch folder.
  const ends = await Promise.allSettled(cases.map((one) => limit(() => shownCase(one, request))));
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}

async function shownCase(one: Case, request: TestRequest): Promise<CaseResult> {
  request.signal.throwIfAborted();
  const result = await testCase(one, request);
  request.onCase?.(result);
  return result;
}

function chosen(cases: readonly Case[], only: readonly string[]): readonly Case[] {
  if (only.length === 0) return cases;
  const isChosen = globMatcher(only);
  const found = cases.filter(({ name }) => isChosen(name));
  if (found.length === 0)
    throw caseProblem(`no case is named ${only.join(' or ')}`, `The first is ${cases[0]?.name}.`);
  return found;
}

async function testCase(one: Case, { update, ...settings }: TestRequest): Promise<CaseResult> {
  try {
    const played = await playCase(one, settings);
    const drift = driftBetween(played.recorded, played.now);
    settings.signal.throwIfAborted();
    const updated = update && (drift.length > 0 || one.patch === undefined);
    if (updated) keepPlayed(one.folder, played);
    const { calls, durationMs } = played;
    return { name: one.name, drift, updated, calls, durationMs };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const why = [errorMessage(error), error.hint].filter(Boolean).join('. ');
    return { name: one.name, drift: [], error: why, updated: false, calls: 0, durationMs: 0 };
  }
}

/** Makes what was played the recording of a case. */
function keepPlayed(folder: string, played: Played): void {
  new LateFile(join(folder, PARTS.transcript)).write([played.transcript]);
  keepPatch(folder, played);
}

export function keepPatch(folder: string, { patch }: Played): void {
  if (patch !== undefined) new LateFile(join(folder, PARTS.patch)).write([patch]);
}
