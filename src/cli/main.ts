declare const BOSUN_VERSION: string;

/** As in protocol/outcome. This file imports nothing, so that the version is told as fast as Node starts. */
const STDOUT_CLOSED = 141;

/** The command line, from arguments to the end of the process. */
export async function main(argv: readonly string[], packageRoot: URL): Promise<void> {
  if (argv.length === 3 && argv[2] === '--version') {
    process.stdout.on('error', () => (process.exitCode = STDOUT_CLOSED));
    process.stdout.write(`${BOSUN_VERSION}\n`);
    return;
  }
  const { runProgram } = await import('./program.js');
  await runProgram(argv, packageRoot);
}
