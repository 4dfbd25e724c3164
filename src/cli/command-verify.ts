import { statSync } from 'node:fs';
import { Command } from 'commander';
import { EXIT_CODES } from '../protocol/outcome.js';
import { VERIFY_FLAGS } from './flags/evidence.js';
import { addFlags, type FlagValues } from './flags/row.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun verify run.jsonl && bosun report run.jsonl
  bosun verify .bosun/batches/find-user
  bosun verify --sign ci.pem .bosun/runs
  bosun verify --trusted-key ci.pub .bosun/runs

The hash chain shows that nothing was changed by accident. Anyone who can write a transcript can
write another one; a signature says who vouches for it. With --sign and --trusted-key, folders mean
all transcripts below them.`;

type VerifyFlags = FlagValues<typeof VERIFY_FLAGS, 'verify'>;

export function verifyCommand(terminal: Terminal): Command {
  const command = new Command('verify')
    .description('check the hash chain and the schema of transcripts, or everything in a batch')
    .argument('<transcript...>', 'transcripts, and folders of batches')
    .addHelpText('after', EXAMPLES);
  addFlags(command, VERIFY_FLAGS, 'verify');
  return command.action(async (paths: string[]) => {
    applyVariables(command, terminal.variables);
    const flags = command.opts<VerifyFlags>();
    const isAboutKeys = flags.sign !== undefined || flags.trustedKey !== undefined;
    const { all, verify } = isAboutKeys ? await signedOnes(paths, flags, terminal) : plainOnes(paths);
    let code: number = EXIT_CODES.completed;
    for (const path of all) {
      const { valid, unreadable, message } = await verify(path);
      if (valid) terminal.stdout(`${message}\n`);
      else terminal.stderr(`bosun: error: ${message}\n`);
      // A changed transcript weighs more than a missing one.
      if (!valid && !unreadable) code = EXIT_CODES.unverified;
      else if (!valid && code === EXIT_CODES.completed) code = EXIT_CODES.config_error;
    }
    terminal.exitCode = code;
  });
}

function plainOnes(all: readonly string[]) {
  const verify = async (path: string) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
    if (isFolder) return (await import('../batch/verify.js')).verifyBatch(path);
    return (await import('../transcript/verify.js')).verifyTranscript(path);
  };
  return { all, verify };
}

async function signedOnes(
  paths: readonly string[],
  { sign, trustedKey }: VerifyFlags,
  { cwd }: Pick<Terminal, 'cwd'>,
) {
  const { findTranscripts } = await import('../transcript/find.js');
  const { publicKey, verifySigned } = await import('../transcript/signed-evidence.js');
  const { readKey } = await import('../approvals/given-answers.js');
  const vouching = {
    ...(sign !== undefined && { key: readKey(sign, '--sign') }),
    ...(trustedKey && { trusted: trustedKey.map((text) => publicKey(text, cwd)) }),
  };
  return { all: findTranscripts(paths), verify: (path: string) => verifySigned(path, vouching) };
}
