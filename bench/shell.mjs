// What it costs to read a command line and to print what will run: `npm run bench:shell [-- ROUNDS]`.
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const TARGET_MS = 0.3;
const print = (line) => process.stdout.write(`${line}\n`);

const rounds = Number(process.argv[2] ?? 20);
const project = fileURLToPath(new URL('..', import.meta.url));
const bundle = `${project}dist/bench-shell.mjs`;

try {
  await build({
    absWorkingDir: project,
    stdin: {
      contents: `export { readScript } from './src/policy/shell/read.ts'; export { parse } from 'unbash';`,
      resolveDir: project,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: bundle,
  });
  const { readScript, parse } = await import(bundle);
  const lines = readFileSync(`${project}test/policy/corpus/harmless.jsonl`, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).command);
  const cost = (work) => {
    for (const line of lines) work(line);
    const before = process.cpuUsage();
    for (let i = 0; i < rounds; i++) for (const line of lines) work(line);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / rounds / lines.length;
  };
  const parsed = cost((line) => JSON.stringify(parse(line)));
  const printed = cost((line) => readScript(line));
  print(`parsing alone       ${parsed.toFixed(3)} ms a line`);
  print(
    `reading, printing   ${printed.toFixed(3)} ms a line, ${(printed / parsed).toFixed(1)} times as much`,
  );
  print(`target              ${TARGET_MS} ms: ${printed < TARGET_MS ? 'met' : 'NOT met'}`);
} finally {
  rmSync(bundle, { force: true });
}
