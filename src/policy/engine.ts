import { urlWords } from '../lib/url-words.js';
import type { DecisionRequest, NetworkGuard, Policy, PolicyAnswer } from '../protocol/decision.js';
import { decideCall, denialWithoutRule } from './decide-call.js';
import { lineDecider, type CommandPlace } from './decide-line.js';
import type { RuleSet } from './fold.js';
import { foreignGate } from './foreign.js';
import { networkGuard, type NetworkSettings } from './network.js';
import { isLeftOut, offerOf } from './offer.js';
import { PathScope, type ScopeSettings } from './path-scope.js';
import { rulesInForce } from './rules-in-force.js';
import { traitsOf } from './tool-names.js';

export interface EngineSettings extends ScopeSettings, CommandPlace {
  /** The run has untrusted input. */
  readonly untrusted: boolean;
}

/** One policy, ready to decide. It is fixed: nothing that a model does changes it. */
export function createEngine(document: RuleSet, settings: EngineSettings): Policy {
  const scope = new PathScope(settings, document.workspace);
  const network = networkGuard(document.network);
  const rules = rulesInForce(document.rules, settings);
  const { mode, memory } = document;
  const grounds = { mode, memory, rules, foreign: foreignGate(document) };
  const lines = lineDecider({ ...grounds, scope, readScope: document.shell.readScope }, settings);

  async function decide(request: DecisionRequest): Promise<PolicyAnswer> {
    const { tool, kind, paths, claimsToRead } = request;
    if (isLeftOut(document.tools, tool))
      return denialWithoutRule(`the policy leaves ${tool} out (tools.offer, tools.exclude)`);
    const faults = paths.map((use) => scope.fault(use)).filter((fault) => fault !== undefined);
    for (const fault of faults) if ('outside' in fault) return fault;
    for (const fault of faults) if ('denied' in fault) return denialWithoutRule(fault.denied);
    const unreachable = networkFault(request, document.network, network);
    if (unreachable) return denialWithoutRule(unreachable);
    const { commandIn } = traitsOf(tool);
    const names = paths.map(({ path }) => path);
    const answer =
      commandIn === undefined
        ? decideCall(grounds, tool, kind, names, claimsToRead)
        : await lines.decide(request, commandIn);
    return answer.decision === 'ask' ? { ...answer, onAsk: document.onAsk } : answer;
  }

  return {
    network,
    boundary: {
      hides: (path) => scope.isSecret(path),
      protects: (path) => scope.isProtected(path),
    },
    decide,
    shellText: lines.shellText,
    // A file that a call did not name but would show.
    admits: (tool, path) => scope.isInside(path) && !scope.isSecret(path) && !rules.hides(tool, path),
    ...offerOf(document, grounds),
  };
}

/** Why a call may not reach its URLs, by how they are written. */
function networkFault(
  { tool, params }: DecisionRequest,
  settings: NetworkSettings | undefined,
  network: NetworkGuard,
): string | undefined {
  const { urlsIn } = traitsOf(tool);
  if (urlsIn === undefined) return undefined;
  if (!settings?.allow.length) return 'the policy allows no host (network.allow)';
  if (params[urlsIn] === undefined) return undefined;
  const words = urlWords(String(params[urlsIn]));
  if (!words.ok) return words.fault;
  return words.urls.map((url) => network.fault(url)).find((fault) => fault !== undefined);
}
