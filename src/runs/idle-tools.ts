import { fold } from '../policy/fold.js';
import type { NamedFiles } from '../policy/named-files.js';
import { rootCommands, shellRisk } from '../policy/shell/late.js';
import type { Policy } from '../protocol/decision.js';
import type { Tool } from '../protocol/tool.js';
import { runCommand } from '../sandbox/local.js';
import { builtinTools } from '../tools/builtin.js';

/** The tools as they are described and decided about; none of them is going to run. */
export function idleTools(workspace: string, policy: Policy, { memory }: NamedFiles): Tool[] {
  const { shell, limits } = fold([]);
  return builtinTools({
    workspace,
    environment: {},
    runCommand,
    shellText: policy.shellText,
    rootCommands,
    shellRisk,
    timeoutMs: shell.timeoutMs,
    idleTimeoutMs: shell.idleTimeoutMs,
    admits: policy.admits,
    outputCap: limits.tool_output,
    memory: memory?.real,
  });
}
