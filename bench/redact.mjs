// How fast secrets are taken out of output, per core: `npm run bench:redact [-- MEGABYTES]`.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const SECRETS = 100;
const CHUNK = 64 * 1024;
const TARGET = 100;

const megabytes = Number(process.argv[2] ?? 200);
const project = fileURLToPath(new URL('..', import.meta.url));
const bundle = `${project}dist/bench-redact.mjs`;

try {
  await build({
    absWorkingDir: project,
    stdin: {
      contents: `export { Redactor } from './src/lib/redact/redactor.ts';
        export { secretsIn } from './src/lib/redact/secrets.ts';
        export { createExpressions } from './src/lib/redact/expressions.ts';`,
      resolveDir: project,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: bundle,
  });
  const { Redactor, secretsIn, createExpressions } = await import(bundle);
  const token = () => randomBytes(24).toString('base64');
  const variables = Object.fromEntries(
    Array.from({ length: SECRETS }, (_, i) => [`SERVICE_${i}_TOKEN`, token()]),
  );
  const one = { GEMINI_API_KEY: token() };
  const redactorOf = (env, more = {}) => new Redactor({ secrets: () => secretsIn(env, () => true), ...more });
  const expressions = createExpressions(['corp-[0-9a-f]{32}', '(?i)license:\\s*\\S+']);
  const many = () => redactorOf(variables);

  const rows = [
    ['a log, 100 secrets', many, log()],
    ['a log, 1 secret', () => redactorOf(one), log()],
    ['a log that is full of secrets', many, log(Object.values(variables))],
    ['base64 in lines of 76', many, wrapped(randomBytes(30e6).toString('base64'))],
    ['hex', many, Buffer.from(randomBytes(20e6).toString('hex'))],
    ['zeros', many, Buffer.alloc(40e6)],
    ['a log, 100 secrets, 2 patterns', () => redactorOf(variables, { expressions }), log()],
  ];
  process.stdout.write(`node ${process.version}, ${megabytes} MB each, CPU time, target ${TARGET} MB/s\n`);
  for (const [what, make, sample] of rows) {
    const started = process.cpuUsage();
    const redactor = make();
    redactor.text('made ready here');
    const ready = since(started);
    const best = Math.max(...[1, 2, 3].map(() => speed(redactor, sample)));
    process.stdout.write(
      `${what.padEnd(34)} ${best.toFixed(0).padStart(5)} MB/s  ready in ${ready.toFixed(0).padStart(3)} ms\n`,
    );
  }
} finally {
  rmSync(bundle, { force: true });
}

/** Megabytes a second of CPU time. Other programs on the machine do not count. */
function speed(redactor, sample) {
  const stream = redactor.stream();
  const started = process.cpuUsage();
  let done = 0;
  while (done < megabytes * 1e6) {
    for (let at = 0; at < sample.length; at += CHUNK) stream.write(sample.subarray(at, at + CHUNK));
    done += sample.length;
  }
  stream.end();
  return done / 1e3 / since(started);
}

function since(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function log(secrets = []) {
  const lines = Array.from({ length: 300_000 }, (_, i) => {
    const found = secrets.length > 0 && i % 10 === 0 ? ` token=${secrets[i % secrets.length]}` : '';
    return `2026-11-16T14:00:${i % 60} INFO request ${i} handled in ${i % 97} ms by worker-${i % 8}${found}`;
  });
  return Buffer.from(lines.join('\n'));
}

function wrapped(text) {
  return Buffer.from(text.replaceAll(/.{76}/g, '$&\n'));
}
