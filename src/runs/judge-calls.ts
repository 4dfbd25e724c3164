import { statSync } from 'node:fs';
import { canonicalJson } from '../lib/canonical-json.js';
import type { Variables } from '../lib/redact/secrets.js';
import { enginesOf, filesNamedIn, type PolicyPlace } from '../policy/engines.js';
import { absentTool } from '../policy/foreign.js';
import type { EffectivePolicy } from '../policy/fold.js';
import type { Judged } from '../policy/replay/compare.js';
import { movedArguments } from '../policy/replay/moved.js';
import { traitsOf } from '../policy/tool-names.js';
import type { DecisionRequest, Policy, PolicyAnswer } from '../protocol/decision.js';
import type { EvidenceCall, EvidenceRun } from '../protocol/evidence.js';
import { isForeign, OWN } from '../protocol/source.js';
import { createRegistry, type Registry } from '../tools/registry.js';
import { idleTools } from './idle-tools.js';
import { policyPlace, shellFacts } from './policies.js';
import { resolveWorkspace } from './settings.js';

export interface JudgeSettings {
  /** Where the calls are taken to be made, wherever they were. */
  readonly cwd?: string;
  /** The same for calls of a workspace that is not here. */
  readonly fallback: string;
  readonly home: string | undefined;
  readonly searchPath: string | undefined;
  readonly variables: Variables;
}

/** The circumstances of a run that decisions depend on. */
export type Circumstances = Pick<EvidenceRun, 'untrusted' | 'sandboxed'>;

/** What is to be decided about a recorded call, or why nothing can be. */
export type AskedAgain =
  { readonly request: DecisionRequest; readonly place: PolicyPlace } | { readonly notJudged: string };

export interface CallJudge {
  judge(call: EvidenceCall, run: Circumstances): Promise<Judged | { readonly notJudged: string }>;
  /** The call as a policy is asked about it here. */
  asked(call: EvidenceCall, run: Circumstances): Promise<AskedAgain>;
}

/** Decides about recorded calls under a policy: nothing runs, no name is looked up. */
export function callJudge(effective: EffectivePolicy, settings: JudgeSettings): CallJudge {
  const { ruleSets } = effective;
  const benchFor = benches(effective, settings);
  const known = new Map<string, Judged | { readonly notJudged: string }>();

  async function asked(call: EvidenceCall, run: Circumstances): Promise<AskedAgain> {
    const { place, registry } = benchFor(call, run);
    const { workspace } = place;
    const moved = movedArguments(call.args, call.workspace, workspace, traitsOf(call.tool).commandIn);
    if (!moved) return { notJudged: `its command names ${call.workspace}, which is ${workspace} here` };
    const request = await requestFor(call, moved.args, registry);
    return 'notJudged' in request ? request : { request, place };
  }

  async function decide(call: EvidenceCall, run: Circumstances) {
    if (call.redacted) return { notJudged: 'its arguments were redacted' };
    const found = await asked(call, run);
    if ('notJudged' in found) return found;
    const isAbsent = isForeign(call.tool) && !call.tool.startsWith(OWN) && !absentTool(ruleSets, call.tool);
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

/** A policy in one workspace, under the same circumstances, with the tools that are called there. */
interface Bench {
  readonly key: string;
  readonly place: PolicyPlace;
  readonly policy: Policy;
  readonly registry: Registry;
}

function benches(effective: EffectivePolicy, settings: JudgeSettings) {
  const { ruleSets, shell, sandbox } = effective;
  const made = new Map<string, Bench>();
  const workspaces = new Map<string, string>();

  function bench(key: string, workspace: string, untrusted: boolean, hides: boolean): Bench {
    const place = policyPlace({
      workspace,
      writeProtected: [],
      home: settings.home,
      untrusted,
      ...shellFacts(shell, settings.variables, settings.searchPath),
      hiddenBySandbox: () => hides,
    });
    const policy = enginesOf(ruleSets, place);
    const registry = createRegistry(idleTools(workspace, policy, filesNamedIn(ruleSets, place)));
    return { key, place, policy, registry };
  }

  return ({ workspace }: EvidenceCall, { untrusted, sandboxed }: Circumstances): Bench => {
    const here = workspaces.get(workspace) ?? workspaceHere(workspace, settings);
    workspaces.set(workspace, here);
    // Where the policy leaves it open, the sandbox is what it was.
    const hides = sandbox.mode === 'required' || (sandboxed && sandbox.mode !== 'off');
    const key = JSON.stringify([here, untrusted, hides]);
    const found = made.get(key) ?? bench(key, here, untrusted, hides);
    made.set(key, found);
    return found;
  };
}

/** What of the arguments decides: the text of a file that is written does not. */
function deciding({ tool, args }: EvidenceCall): unknown {
  if (tool !== 'write_file' && tool !== 'replace') return args;
  const {
    content: _content,
    old_string: _old,
    new_string: _new,
    ...rest
  } = (args ?? {}) as Readonly<Record<string, unknown>>;
  return rest;
}

function workspaceHere(workspace: string, { cwd, fallback }: JudgeSettings): string {
  if (cwd !== undefined) return resolveWorkspace(cwd);
  const isHere = statSync(workspace, { throwIfNoEntry: false })?.isDirectory();
  return resolveWorkspace(isHere ? workspace : fallback);
}

async function requestFor(
  { tool: name, kind }: EvidenceCall,
  args: unknown,
  registry: Registry,
): Promise<DecisionRequest | { readonly notJudged: string }> {
  const tool = registry.find(name);
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
