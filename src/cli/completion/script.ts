import type { Command } from 'commander';
import { listPresets } from '../../policy/preset-names.js';
import { TOOL_NAMES } from '../../policy/tool-names.js';
import { bashScript } from './bash.js';
import { fishScript } from './fish.js';
import type { Shell } from './shells.js';
import { describeCommands } from './tree.js';
import { zshScript } from './zsh.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** A script for a shell, generated from the actual commands. */
export function completionScript(shell: Shell, program: Command): string {
  const words = { presets: listPresets().map(({ name }) => name), tools: TOOL_NAMES };
  return SCRIPTS[shell](describeCommands(program, words));
}
