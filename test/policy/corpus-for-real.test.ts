import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { countOf } from '../helpers/counts.js';
import { engine, load, shell } from '../helpers/policy.js';
import { REPOSITORY } from '../helpers/run-cli.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const folder = join(REPOSITORY, 'test/policy/corpus');
const isolated = spawnSync('unshare', ['-r', '-p', '-f', '-n', 'true']).status === 0;

/** Programs that do nothing but say that they were called. Nothing else can be found on the PATH. */
function stubs(names: readonly string[], log: string): string {
  const bin = ws.outside('bin');
  mkdirSync(bin);
  for (const name of names) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name}" >> "${log}"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return bin;
}

/** Wrappers that are looked through, and what they look for. */
const WRAPPERS = ['env', 'timeout', 'nice', 'nohup', 'bash', 'sh', 'xargs', 'time'];

(isolated ? test : test.skip).each(['bash', 'sh'] as const)(
  'what is allowed runs nothing but what the rules name, in %s (needs namespaces)',
  async (dialect) => {
    const policyText = readFileSync(join(folder, 'policy.yaml'), 'utf8');
    const policy = await engine(ws.path(), policyText, { dialect });
    for (const directory of ['src', 'test', 'out', 'docs']) mkdirSync(ws.path(directory));
    for (const file of ['src/a.js', 'README.md', 'package.json', 'docs/guide.md']) ws.write(file, 'x\n');
    const lines = ['attacks.jsonl', 'harmless.jsonl']
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
      .filter((_, i) => i % countOf('PRINT_EVERY') === 0)
      .map((line) => (JSON.parse(line) as { command: string }).command);

    const allowed: string[] = [];
    for (const line of lines) if ((await shell(policy, line)).decision === 'allow') allowed.push(line);
    expect(allowed.length).toBeGreaterThan(500 / countOf('PRINT_EVERY'));

    const { rules } = await load(ws.path(), policyText);
    const named = rules
      .filter(({ decision }) => decision === 'allow')
      .flatMap(({ commands = [] }) => commands.map(([first = '']) => first));
    const log = ws.outside('log');
    writeFileSync(log, '');
    const bin = stubs(
      [...new Set([...named, ...WRAPPERS, 'id', 'rm', 'curl', 'sudo', 'python3', 'perl'])],
      log,
    );
    // Only bash says what it did not find; without bash, stubs tell of what was found.
    const handle =
      dialect === 'bash' ? `command_not_found_handle() { echo "$1" >> "${log}"; return 127; }; ` : '';
    const script = allowed
      .map((_, i) => `timeout 2 /bin/${dialect} -c "$HANDLE$L${i}" < /dev/null > /dev/null 2>&1`)
      .join('\n');
    const env = Object.fromEntries(allowed.map((line, i) => [`L${i}`, line]));
    const run = spawnSync(
      '/usr/bin/unshare',
      ['-r', '-p', '-f', '-n', '/bin/bash', '-c', script.replaceAll('timeout 2', '/usr/bin/timeout 2')],
      {
        cwd: ws.path(),
        env: { ...env, HANDLE: handle, PATH: bin },
        timeout: 600_000,
      },
    );
    expect(run.signal).toBeNull();
    const ran = new Set(readFileSync(log, 'utf8').trimEnd().split('\n'));
    expect(ran.size).toBeGreaterThan(20);
    for (const forbidden of ['id', 'rm', 'curl', 'sudo', 'python3', 'perl'])
      expect(ran).not.toContain(forbidden);
    const covered = new Set([...named, ...WRAPPERS]);
    expect([...ran].filter((name) => !covered.has(name))).toEqual([]);
  },
  600_000,
);
