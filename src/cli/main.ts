import { CANCEL_CODES } from '../protocol/outcome.js';
import { VERSION } from '../runs/version.js';

/** The command line, from arguments to the end of the process. Asking for the version loads nothing else. */
export async function main(argv: readonly string[], packageRoot: URL): Promise<void> {
  if (argv.length === 3 && argv[2] === '--version') {
    process.stdout.on('error', () => (process.exitCode = CANCEL_CODES.stdout_closed));
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const { runProgram } = await import('./program.js');
  await runProgram(argv, packageRoot);
}
