import { Command } from 'commander';
import { PUBLISH_FLAGS } from './flags/publish.js';
import { addFlags } from './flags/row.js';
import { FLAGS } from './flags/table.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const RULES = `
Each patch becomes a commit on the base branch, a branch bosun/..., and a pull request. Nothing of it is run. Running
the command again changes nothing that is there: open, merged and closed pull requests stay as they are, and a
branch that somebody has pushed to is left alone. Conflicts are reported. The token comes from GITHUB_TOKEN.`;

const BATCH_EXAMPLES = `
Examples:
  bosun batch publish .bosun/batches/find-user --repo octocat/web --dry-run
  bosun batch publish .bosun/batches/find-user --repo octocat/web --draft --per-hour 5
  bosun batch publish .bosun/batches/find-user --repo octocat/web --group folder
${RULES}`;

const RUN_EXAMPLES = `
Examples:
  bosun run --policy codemod --transcript fix.jsonl --patch-out fix.patch -p 'Fix the typos'
  bosun publish fix.jsonl --repo octocat/web --draft
${RULES}`;

/** `bosun batch publish` */
export function publishBatchCommand(terminal: Terminal): Command {
  const command = new Command('publish')
    .description('open pull requests on GitHub with the patches of completed tasks')
    .argument('<dir>', 'the folder of a batch')
    .addHelpText('after', BATCH_EXAMPLES);
  addFlags(command, { ...FLAGS, ...PUBLISH_FLAGS }, 'batch publish');
  return command.action(async (dir: string) => {
    applyVariables(command, terminal.variables);
    const { performBatchPublish } = await import('./perform-publish.js');
    terminal.exitCode = await performBatchPublish(dir, command.opts(), terminal);
  });
}

/** `bosun publish` */
export function publishCommand(terminal: Terminal): Command {
  const command = new Command('publish')
    .description('open a pull request on GitHub with the patch of a completed run')
    .argument('<transcript>', 'the transcript of a run that wrote a patch')
    .addHelpText('after', RUN_EXAMPLES);
  addFlags(command, { ...FLAGS, ...PUBLISH_FLAGS }, 'publish');
  return command.action(async (transcript: string) => {
    applyVariables(command, terminal.variables);
    const { performPublish } = await import('./perform-publish.js');
    terminal.exitCode = await performPublish(transcript, command.opts(), terminal);
  });
}
