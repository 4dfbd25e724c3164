import { Command } from 'commander';
import type { Terminal } from './terminal.js';

/** What action.yml starts: not for people, so help does not show it. */
export function gitHubActionCommand(terminal: Terminal, packageRoot: URL): Command {
  const command = new Command('github-action').description(
    'the step of action.yml: inputs and outputs of a workflow',
  );
  return command.action(async () => {
    const { performGitHubAction } = await import('./github-action/perform.js');
    terminal.exitCode = await performGitHubAction(terminal, packageRoot);
  });
}
