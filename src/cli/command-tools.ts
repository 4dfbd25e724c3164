import { Command, Option } from 'commander';
import { toJsonText } from '../lib/jsonl.js';
import { oneLine } from '../lib/text.js';
import { MODES, type Mode } from '../protocol/decision.js';
import { applyVariables, collect } from './options.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun tools --mode auto_edit
  bosun tools --mode yolo --json | jq '.[].name'`;

interface ToolsFlags {
  readonly mode?: Mode;
  readonly policy?: readonly string[];
  readonly cwd?: string;
  readonly json?: boolean;
}

export function toolsCommand(terminal: Terminal): Command {
  const command = new Command('tools')
    .description('show what the model would be offered')
    .option('--policy <name>', 'a preset or a policy file (repeatable)', collect)
    .addOption(new Option('--mode <mode>', 'what the model may do (default: plan)').choices(MODES))
    .option('-C, --cwd <dir>', 'the workspace (default: here)')
    .option('--json', 'as JSON, with the declarations as sent')
    .addHelpText('after', EXAMPLES);
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const { mode, policy = [], cwd = terminal.cwd, json } = command.opts<ToolsFlags>();
    const { listTools } = await import('./actions.js');
    const log = terminal.log({ logFormat: 'pretty', color: 'auto' });
    const { variables, learn: onLoaded } = terminal;
    const request = { policies: policy, mode, folder: terminal.cwd, cwd, variables, log: log.info, onLoaded };
    const tools = await listTools(request);
    await log.flush();
    if (json) {
      terminal.stdout(`${toJsonText(tools)}\n`);
      return;
    }
    const width = Math.max(...tools.map(({ name }) => name.length));
    for (const { name, source, kind, decision, offered, description } of tools) {
      const verdict = offered ? decision : 'not offered';
      const facts = `${kind.padEnd(8)} ${verdict.padEnd(11)}  ${source.padEnd(10)}`;
      terminal.show(`${name.padEnd(width)}  ${facts}  ${oneLine(description, 2000)}\n`);
    }
  });
}
