import { enginesOf, filesNamedIn } from '../policy/engines.js';
import { fold, type EffectivePolicy } from '../policy/fold.js';
import { rootCommands, shellRisk } from '../policy/shell/lazy.js';
import type { PolicyPlace } from '../policy/engines.js';
import type { Policy } from '../protocol/decision.js';
import { runCommand } from '../sandbox/local.js';
import { builtinTools } from '../tools/builtin.js';
import { createRegistry, type Registry } from '../tools/registry.js';

export interface IdleTools {
  readonly policy: Policy;
  readonly registry: Registry;
}

/** A policy in a place, and the tools as they are described and decided about there; none of them will run. */
export function idleTools({ ruleSets }: Pick<EffectivePolicy, 'ruleSets'>, place: PolicyPlace): IdleTools {
  const { shell, limits } = fold([]);
  const policy = enginesOf(ruleSets, place);
  const tools = builtinTools({
    workspace: place.workspace,
    environment: {},
    runCommand,
    shellText: policy.shellText,
    rootCommands,
    shellRisk,
    timeoutMs: shell.timeoutMs,
    idleTimeoutMs: shell.idleTimeoutMs,
    admits: policy.admits,
    outputCap: limits.tool_output,
    memory: filesNamedIn(ruleSets, place).memory?.real,
  });
  return { policy, registry: createRegistry(tools) };
}
