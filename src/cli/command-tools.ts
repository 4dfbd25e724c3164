import { Command } from 'commander';
import { toJsonText } from '../lib/jsonl.js';
import { oneLine } from '../lib/text.js';
import { addFlags, type FlagTable, type FlagValues } from './flags/row.js';
import { FLAGS, type FlagsOf } from './flags/table.js';
import { SWITCH } from './flags/takes.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun tools --mode auto_edit
  bosun tools --mode yolo --json | jq '.[].name'`;

const OWN_FLAGS = {
  json: { takes: SWITCH, in: { tools: 'as JSON, with the declarations as sent' } },
} as const satisfies FlagTable;
type ToolsFlags = FlagsOf<'tools'> & FlagValues<typeof OWN_FLAGS, 'tools'>;

export function toolsCommand(terminal: Terminal): Command {
  const command = new Command('tools')
    .description('show what the model would be offered')
    .addHelpText('after', EXAMPLES);
  addFlags(command, { ...FLAGS, ...OWN_FLAGS }, 'tools');
  return command.action(async () => {
    applyVariables(command, terminal.variables);
    const { mode, policy = [], cwd = terminal.cwd, json } = command.opts<ToolsFlags>();
    const [{ listTools }, { stoppable }] = await Promise.all([
      import('../runs/list-tools.js'),
      import('./stop-on-signals.js'),
    ]);
    const log = terminal.log({ logFormat: 'pretty', color: 'auto' });
    const { variables, learn: onLoaded } = terminal;
    const request = { policies: policy, mode, folder: terminal.cwd, cwd, variables, log: log.info, onLoaded };
    const tools = await stoppable((signal) => listTools({ ...request, signal }));
    await log.flush();
    if (json) {
      terminal.stdout(`${toJsonText(tools)}\n`);
      return;
    }
    const width = Math.max(...tools.map(({ name }) => name.length));
    for (const { name, source, kind, decision, offered, description } of tools) {
      const shown = offered ? decision : 'not offered';
      const facts = `${kind.padEnd(8)} ${shown.padEnd(11)}  ${source.padEnd(10)}`;
      terminal.show(`${name.padEnd(width)}  ${facts}  ${oneLine(description, 2000)}\n`);
    }
  });
}
