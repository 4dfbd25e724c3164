declare const BOSUN_VERSION: string;

/** As in protocol/outcome. This file imports nothing, so that `--version` is as fast as Node starts. */
const STDOUT_CLOSED = 141;

/** The command line, from arguments to the end of the process. */
export async function main(argv: readonly string[], packageRoot: URL): Promise<void> {
  const words = argv.slice(2).sort().join(' ');
  const asked = /^(--json )?(?:-V|--version|version)$/.exec(words);
  if (asked) {
    process.stdout.on('error', () => (process.exitCode = STDOUT_CLOSED));
    const facts = asked[1] && (await import('./version-facts.js'));
    process.stdout.write(`${facts ? JSON.stringify(facts.versionFacts()) : BOSUN_VERSION}\n`);
    return;
  }
  const { runCommandLine } = await import('./program.js');
  await runCommandLine(argv, packageRoot);
}
