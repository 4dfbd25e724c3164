import { canonicalJson } from '../../lib/canonical-json.js';
import { isRecord } from '../../lib/record.js';
import type { DecisionRequest, Policy, PolicyAnswer } from '../../protocol/decision.js';
import type { EvidenceCall, EvidenceRun } from '../../protocol/evidence.js';
import { isForeign, OWN } from '../../protocol/source.js';
import type { Tool } from '../../protocol/tool.js';
import type { PolicyPlace } from '../engines.js';
import type { RuleSet } from '../fold.js';
import { absentTool } from '../foreign.js';
import { traitsOf } from '../tool-names.js';
import type { Judged } from './compare.js';
import { movedArguments } from './moved-arguments.js';

/** The circumstances of a run on which decisions depend. */
export type Circumstances = Pick<EvidenceRun, 'untrusted' | 'sandboxed'>;

/** What a policy has to decide about a recorded call, or why it cannot. */
export type AskedAgain =
  { readonly request: DecisionRequest; readonly place: PolicyPlace } | { readonly notJudged: string };

export interface CallJudge {
  judge(call: EvidenceCall, run: Circumstances): Promise<Judged | { readonly notJudged: string }>;
  /** The call as a policy here is asked about it. */
  asked(call: EvidenceCall, run: Circumstances): Promise<AskedAgain>;
}

type FindTool = (name: string) => Tool | undefined;

/** A policy in one workspace, under the same circumstances, with the tools that are called there. */
export interface Bench {
  readonly key: string;
  readonly place: PolicyPlace;
  readonly policy: Policy;
  readonly find: FindTool;
}

export type BenchFor = (call: EvidenceCall, run: Circumstances) => Bench;

/** Decides about recorded calls under a policy: nothing runs, no host name is looked up. */
export function callJudge(sets: readonly RuleSet[], benchFor: BenchFor): CallJudge {
  const known = new Map<string, Judged | { readonly notJudged: string }>();

  async function asked(call: EvidenceCall, run: Circumstances): Promise<AskedAgain> {
    const { place, find } = benchFor(call, run);
    const { workspace } = place;
    const moved = movedArguments(call.args, call.workspace, workspace, traitsOf(call.tool).commandIn);
    if (!moved) return { notJudged: `its command names ${call.workspace}, which is ${workspace} here` };
    const request = await requestFor(call, moved.args, find);
    return 'notJudged' in request ? request : { request, place };
  }

  async function decide(call: EvidenceCall, run: Circumstances) {
    if (call.redacted) return { notJudged: 'its arguments were redacted' };
    const found = await asked(call, run);
    if ('notJudged' in found) return found;
    const isAbsent = isForeign(call.tool) && !call.tool.startsWith(OWN) && !absentTool(sets, call.tool);
    if (isAbsent) return denial(`the policy names no source of ${call.tool}`);
    return judgedOf(await benchFor(call, run).policy.decide(found.request));
  }

  return {
    asked,
    async judge(call, run) {
      const { key } = benchFor(call, run);
      const whole = canonicalJson([key, call.tool, call.workspace, call.redacted, deciding(call)]);
      const before = known.get(whole);
      if (before) return before;
      const judged = await decide(call, run);
      known.set(whole, judged);
      return judged;
    },
  };
}

/** The arguments that matter for the decision: not the text of a file that is written. */
function deciding({ tool, args }: EvidenceCall): unknown {
  const { textIn } = traitsOf(tool);
  if (!textIn || !isRecord(args)) return args;
  return Object.fromEntries(Object.entries(args).filter(([name]) => !textIn.includes(name)));
}

async function requestFor(
  { tool: name, kind }: EvidenceCall,
  args: unknown,
  find: FindTool,
): Promise<DecisionRequest | { readonly notJudged: string }> {
  const tool = find(name);
  if (!tool && !isForeign(name)) return { notJudged: `there is no tool ${name}` };
  if (!tool) return { tool: name, kind, paths: [], params: {} };
  const built = await tool.build(args);
  if (!built.ok) return { notJudged: `its arguments are not valid: ${built.error.message}` };
  const { paths, params } = built.invocation;
  return { tool: tool.name, kind: tool.kind, paths, params };
}

function judgedOf(answer: PolicyAnswer): Judged {
  if ('outside' in answer) return denial(answer.outside);
  const { decision, rule, reason, onAsk } = answer;
  return { decision, rule, reason, ...(onAsk !== undefined && { onAsk }) };
}

function denial(reason: string): Judged {
  return { decision: 'deny', rule: null, reason };
}
