import { urlWords } from '../../lib/url-words.js';
import { parseUrl } from '../../lib/parse-url.js';
import type { EffectivePolicy, RuleSet } from '../fold.js';
import { networkGuard } from '../network.js';
import type { Used } from './carried.js';
import type { Candidate } from './learn.js';
import type { Unlearnt } from './lesson.js';
import { shownCall } from '../replay/shown-call.js';
import { traitsOf } from '../tool-names.js';
import type { EvidenceCall, EvidenceRun } from '../../protocol/evidence.js';
import { DISCOVERED, isForeign } from '../../protocol/source.js';
import type { Judged } from '../replay/compare.js';
import { someoneAnswers } from './ceiling.js';
import type { CallJudge } from '../replay/judge.js';
import type { PolicyPlace } from '../engines.js';
import { changesOf } from './run-changes.js';
import { NO_TRACE } from './traces.js';

/** A call that may teach something, and where it is judged. */
export interface PlacedCandidate extends Candidate {
  readonly place: PolicyPlace;
  readonly evidence: EvidenceRun;
}

export interface Gathered {
  readonly candidates: readonly PlacedCandidate[];
  /** Calls that the ceiling does not allow. */
  readonly unlearnt: readonly Unlearnt[];
  readonly failed: number;
  readonly refused: number;
  readonly redacted: number;
  /** Rules of the ceiling that decided about something. */
  readonly usedRules: ReadonlySet<string>;
}

/** The calls that were allowed and succeeded, and that the ceiling allows. */
export async function gatherCandidates(runs: readonly EvidenceRun[], judge: CallJudge): Promise<Gathered> {
  const candidates: PlacedCandidate[] = [];
  const unlearnt: Unlearnt[] = [];
  const usedRules = new Set<string>();
  const counts = { failed: 0, refused: 0, redacted: 0 };
  for (const evidence of runs) {
    const { files: changed, traces } = await changesOf(evidence, judge);
    for (const call of evidence.calls) {
      const seen = { run: evidence.session, date: evidence.startedAt, call };
      if (!call.succeeded) counts[isRefused(call) ? 'refused' : 'failed']++;
      else if (call.redacted) counts.redacted++;
      if (!call.succeeded || call.redacted) continue;
      const asked = await judge.asked(call, evidence);
      const decided = await judge.judge(call, evidence);
      const out = 'notJudged' in decided ? decided.notJudged : ceilingFault(decided, call);
      if ('notJudged' in asked || out !== undefined) {
        unlearnt.push({ what: shownCall(call, 200), why: out ?? 'it cannot be judged', seen: [seen] });
        continue;
      }
      if ('rule' in decided && decided.rule) usedRules.add(decided.rule.id);
      const { request, place } = asked;
      const before = traces.get(call) ?? NO_TRACE;
      candidates.push({ ...seen, request, place, evidence, workspace: place.workspace, changed, before });
    }
  }
  return { candidates, unlearnt: mergedUnlearnt(unlearnt), usedRules, ...counts };
}

export function isRefused({ decision, approved }: EvidenceCall): boolean {
  return decision === 'deny' || (decision === 'ask' && !approved);
}

/**
 * A call asked about by default and approved is inside; one that a rule asks about stays so, and if the ceiling lets
 * nobody answer, it is denied.
 */
function ceilingFault(
  { decision, rule, reason, onAsk }: Judged,
  { approved }: EvidenceCall,
): string | undefined {
  if (decision === 'allow') return undefined;
  const isAnswered = onAsk !== undefined && someoneAnswers(onAsk);
  if (decision === 'ask' && rule === null && approved && isAnswered) return undefined;
  return decision === 'ask' ? `the ceiling asks about it: ${reason}` : `the ceiling denies it: ${reason}`;
}

function mergedUnlearnt(all: readonly Unlearnt[]): Unlearnt[] {
  const found = new Map<string, Unlearnt>();
  for (const one of all) {
    const key = JSON.stringify([one.what, one.why]);
    const before = found.get(key);
    found.set(key, before ? { ...before, seen: [...before.seen, ...one.seen] } : one);
  }
  return [...found.values()];
}

/** What the calls need of the ceiling besides rules. Hosts that were seen too rarely are left out. */
export function usedBy(
  candidates: readonly PlacedCandidate[],
  { ruleSets }: EffectivePolicy,
  minRuns: number,
): Used {
  const names = new Set(candidates.map(({ request }) => request.tool));
  return {
    tools: new Set([...names].filter(isForeign)),
    hosts: hostsUsed(candidates, minRuns).filter(isAdmittedBy(ruleSets)).toSorted(),
    memory: [...names].some((name) => traitsOf(name).needs === 'memory'),
    discovery: [...names].some((name) => name.startsWith(DISCOVERED)),
  };
}

function hostsUsed(candidates: readonly PlacedCandidate[], minRuns: number): string[] {
  const runsOf = new Map<string, Set<string>>();
  const note = (host: string, run: string) => runsOf.set(host, (runsOf.get(host) ?? new Set()).add(run));
  for (const { request, run, evidence } of candidates) {
    for (const host of evidence.hosts) note(host, run);
    const { urlsIn } = traitsOf(request.tool);
    const words = urlsIn === undefined ? undefined : urlWords(String(request.params[urlsIn] ?? ''));
    if (words?.ok) for (const url of words.urls) note(url.origin, run);
  }
  const hosts = [...runsOf].filter(([, runs]) => runs.size >= minRuns).map(([host]) => host);
  // A fetch names no port, a connection does: one is enough.
  return hosts.filter((host) => !hosts.some((other) => other !== host && parseUrl(host)?.origin === other));
}

/** A transcript is no proof about hosts: the ceiling must allow each, and not name it already. */
function isAdmittedBy(ruleSets: readonly RuleSet[]): (host: string) => boolean {
  const networks = ruleSets.flatMap(({ network }) => network ?? []);
  const guards = networks.map(networkGuard);
  const named = networks.map(({ allow }) => allow.filter(({ covers }) => covers === 'host'));
  const common = (named[0] ?? []).filter(({ text }) =>
    named.every((list) => list.some((one) => one.text === text)),
  );
  const knows = networkGuard({ allow: common, private: 'allow' });
  return (host) => {
    const url = parseUrl(host);
    if (!url || host.includes('*')) return false;
    return guards.every(({ fault }) => fault(url) === undefined) && knows.fault(url) !== undefined;
  };
}
