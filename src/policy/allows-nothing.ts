import { canonicalJson } from '../lib/canonical-json.js';
import { withDefaults, modeOnly, type PolicyDocument } from './document.js';
import type { EffectivePolicy } from './fold.js';
import { isForeign } from '../protocol/source.js';
import { byMode } from './modes.js';
import { means, builtinKinds } from './tool-names.js';

/** Tools for work; the model's own notes and plans are not work. */
const WORKING = builtinKinds().filter(([, kind]) => kind !== 'think');

/** For policies that many runs of a batch share. */
const known = new WeakMap<EffectivePolicy['recorded'], string[]>();

/** Why a run under some of its policies can achieve nothing. */
export function uselessPolicies({ recorded }: Pick<EffectivePolicy, 'recorded'>): string[] {
  const before = known.get(recorded);
  if (before) return before;
  const useless = recorded.map(withDefaults).flatMap((document) => {
    const why = allowsNothing(document);
    return why === undefined ? [] : [`the policy ${document.sources[0]?.file}: ${why}`];
  });
  known.set(recorded, useless);
  return useless;
}

/** Why a run under a policy can achieve nothing, in words; undefined if it can. */
export function allowsNothing(document: PolicyDocument): string | undefined {
  const { sources, rules, tools, servers, discovery, mode } = document;
  if (sources.length === 0) return undefined;
  if (canonicalJson({ ...document, sources: [] }) === canonicalJson(modeOnly('plan')))
    return 'it allows nothing beyond reading and searching, as without a policy: give it a mode or rules';
  const mayCall = (tool: string, byItself: boolean) => {
    const isOut =
      means(tools.exclude, tool) || (tools.offer.length > 0 && !means(tools.offer, tool, { exactly: true }));
    const about = rules.filter((rule) => !rule.when && means(rule.tools, tool));
    if (isOut || about.some(({ decision, paths, commands }) => decision === 'deny' && !paths && !commands))
      return false;
    return byItself || about.some(({ decision }) => decision !== 'deny');
  };
  const canWork = WORKING.some(([tool, kind]) => mayCall(tool, byMode(mode, kind) !== 'deny'));
  const hasSources =
    servers.length > 0 ||
    discovery !== undefined ||
    rules.some((rule) => rule.decision !== 'deny' && rule.tools.some(isForeign));
  return canWork || hasSources ? undefined : 'it allows nothing: no tool can ever be called';
}
