import type { Policy } from '../protocol/decision.js';
import type { RuleSet } from './fold.js';
import { mayNeedDiscovery, mayNeedServer } from './foreign.js';
import { builtinKinds, takesCommand } from './tool-names.js';

/** Whether anything could ever be run. */
export function startsPrograms(
  sets: readonly RuleSet[],
  { mayOffer }: Pick<Policy, 'mayOffer'>,
  verifies: boolean,
): boolean {
  if (verifies) return true;
  const mayRun = sets.every(mayRunCommands);
  const isOffered = () =>
    builtinKinds().some(([name, kind]) => takesCommand(name) && mayOffer({ name, kind }));
  if (mayRun && isOffered()) return true;
  return startsSources(sets);
}

/** Sources of external tools that are programs on this machine. */
function startsSources(sets: readonly RuleSet[]): boolean {
  if (sets.some(({ discovery }) => discovery) && sets.every(mayNeedDiscovery)) return true;
  const servers = sets.flatMap((set) => set.servers);
  return servers.some(
    ({ name, connection }) => connection.type === 'stdio' && sets.every((set) => mayNeedServer(set, name)),
  );
}

/**
 * Whether to look for a sandbox before everything is known about a run: if not, nothing can be started, whatever
 * comes.
 */
export function mayStartPrograms(sets: readonly RuleSet[], verifies: boolean): boolean {
  return verifies || sets.every(mayRunCommands) || startsSources(sets);
}

/** Whether a command line could be allowed: by the mode, by a rule, or because an approver can say yes. */
function mayRunCommands({ mode, rules, onAsk }: RuleSet): boolean {
  const isAllowed = rules.some(({ decision, tools }) => decision === 'allow' && tools.some(takesCommand));
  return mode === 'yolo' || isAllowed || (mode !== 'plan' && onAsk !== 'deny' && onAsk !== 'fail');
}
