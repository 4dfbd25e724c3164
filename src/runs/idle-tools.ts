import type { NamedFiles } from '../policy/named-files.js';
import type { Policy } from '../protocol/decision.js';
import type { Tool } from '../protocol/tool.js';
import { runCommand } from '../sandbox/local.js';
import { builtinTools } from '../tools/builtin.js';
import { rootCommands, shellRisk } from './policies.js';
import { DEFAULT_LIMITS, SHELL_TIMEOUTS } from './settings.js';

/** The tools as they are described and decided about; none of them is going to run. */
export function idleTools(workspace: string, policy: Policy, { memory }: NamedFiles): Tool[] {
  return builtinTools({
    workspace,
    environment: {},
    runCommand,
    shellText: policy.shellText,
    rootCommands,
    shellRisk,
    ...SHELL_TIMEOUTS,
    admits: policy.admits,
    outputCap: DEFAULT_LIMITS.tool_output,
    memory: memory?.real,
  });
}
