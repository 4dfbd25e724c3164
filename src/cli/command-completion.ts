import { Argument, Command } from 'commander';
import { SHELLS, type Shell } from './completion/shells.js';
import type { Terminal } from './terminal.js';

const ABOUT = `
Prints a script that makes the shell complete commands, options and their values, presets, tools and
files. To install it:
  bosun completion bash > ~/.local/share/bash-completion/completions/bosun
  bosun completion zsh > ~/.zfunc/_bosun     (and fpath+=(~/.zfunc) before compinit in ~/.zshrc)
  bosun completion fish > ~/.config/fish/completions/bosun.fish

To try it in bash: source <(bosun completion bash). Print it again after an update.`;

export function completionCommand(terminal: Terminal): Command {
  const command = new Command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', ABOUT);
  return command.action(async (shell: Shell) => {
    const { completionScript } = await import('./completion/script.js');
    terminal.stdout(completionScript(shell, command.parent as Command));
  });
}
