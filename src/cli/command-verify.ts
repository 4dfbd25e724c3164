import { statSync } from 'node:fs';
import { Command } from 'commander';
import { EXIT_CODES } from '../protocol/outcome.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Example:
  bosun verify run.jsonl && bosun report run.jsonl
  bosun verify .bosun/batches/find-user`;

export function verifyCommand(terminal: Terminal): Command {
  return new Command('verify')
    .description('check the hash chain and the schema of transcripts, or all of a batch')
    .argument('<transcript...>', 'transcripts, and folders of batches')
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[]) => {
      const { verifyTranscript } = await import('../runs/transcripts.js');
      let code: number = EXIT_CODES.completed;
      for (const path of paths) {
        const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
        const verify = isFolder ? (await import('../batch/verify.js')).verifyBatch : verifyTranscript;
        const { valid, unreadable, message } = await verify(path);
        if (valid) terminal.stdout(`${message}\n`);
        else terminal.stderr(`bosun: error: ${message}\n`);
        // One that was changed weighs more than one that is not there.
        if (!valid && !unreadable) code = EXIT_CODES.unverified;
        else if (!valid && code === EXIT_CODES.completed) code = EXIT_CODES.config_error;
      }
      terminal.exitCode = code;
    });
}
