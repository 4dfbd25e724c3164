import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseYaml } from '../../src/lib/yaml.js';
import { commitAll } from '../helpers/batch.js';
import { isThorough } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { runCli, serverEnv, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const FILES = {
  'package.json': '{"scripts":{"test":"node --test","lint":"node scripts/lint.js"}}',
  'scripts/lint.js': 'console.log("ok");\n',
  'test/a.test.js': "require('node:test')('a', () => {});\n",
  'src/a.js': 'exports.a = 1; // TODO\n',
  'src/b.js': 'exports.b = 1;\n',
  Makefile: 'check:\n\t@echo fine\n',
  '.gitignore': '.bosun\n*.yaml\n',
};

function valuesIn(yaml: string): unknown {
  const parsed = parseYaml(yaml);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

const sh = (command: string) => call('run_shell_command', { command });

/** What a coding agent does in a small project: looks, edits, tests, commits. */
const USEFUL = [
  [sh('git status --short'), sh('git log --oneline -5 | head -3'), sh('grep -rn TODO src')],
  [sh("sed -n '1,20p' src/b.js"), sh('ls -la src && wc -l src/*.js')],
  [call('write_file', { file_path: 'src/c.js', content: 'exports.c = 1;\n' })],
  [sh('npm run lint'), sh('npm test 2>&1 | tail -5'), sh('make check'), sh('mkdir -p out && touch out/done')],
  [sh('git diff --stat'), sh('echo done > out/log.txt')],
];
const NEVER = [[sh('node -e "1"'), sh('rm -f out/done'), sh('npm pkg get name')]];

/** Each npm takes as long as all else that a run starts. The soak tier has the real one. */
function withQuickNpm({ root }: Scratch): Record<string, string> {
  if (isThorough) return {};
  const programs = join(root, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'npm'), '#!/bin/sh\necho "npm $*"\n', { mode: 0o755 });
  return { PATH: `${programs}:${process.env['PATH']}` };
}

test('a policy from real runs holds for them, and runs under it teach the same policy', async () => {
  const where = place(FILES);
  commitAll(where);
  const runs = (turns: readonly object[][], n: number) =>
    Array.from({ length: n }, () => [
      ...turns.map((parts) => ({ parts })),
      { parts: [text('Done.')] },
    ]).flat();
  const server = await serve([...runs([...USEFUL, ...NEVER], 3), ...runs(USEFUL, 3)] as never);
  const env = serverEnv(server, where, { BOSUN_MODEL: 'gemini-test', ...withQuickNpm(where) });
  const bosun = (...args: string[]) => runCli(args, { env, cwd: where.workspace });
  const policyIn = (name: string) => readFileSync(join(where.workspace, name), 'utf8');
  const learn = (ceiling: string, output: string) =>
    bosun('policy', 'learn', '--ceiling', ceiling, '.bosun/runs', '-o', output);

  for (let n = 0; n < 3; n++) expect((await bosun('run', '--policy', 'yolo', '-p', 'fix it')).code).toBe(0);
  expect((await learn('yolo', 'ci.yaml')).code).toBe(0);
  const first = policyIn('ci.yaml');
  for (const line of ['node -e', 'rm -f out/done', 'npm pkg get name'])
    expect(first).toContain(`# - ${line}`);
  expect(await bosun('policy', 'lint', '--policy', 'ci.yaml', '--strict')).toMatchObject({ code: 0 });
  const replayed = await bosun('policy', 'replay', '--policy', 'ci.yaml', '.bosun/runs', '--json');
  expect(JSON.parse(replayed.stdout)).toMatchObject({ exit_code: 3, refused: 9, looser: 0 });

  rmSync(join(where.workspace, '.bosun'), { recursive: true });
  for (let n = 0; n < 3; n++) {
    const { code, stderr } = await bosun('run', '--policy', 'ci.yaml', '-p', 'fix it');
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  }
  expect((await learn('ci.yaml', 'again.yaml')).code).toBe(0);
  expect(valuesIn(policyIn('again.yaml'))).toEqual(valuesIn(first));

  // A person's policy that has it all gains nothing.
  writeFileSync(join(where.workspace, 'mine.yaml'), `# mine\n${first}`);
  const merged = await bosun('policy', 'learn', '--ceiling', 'yolo', '--merge', 'mine.yaml', '.bosun/runs');
  expect(merged).toMatchObject({ code: 0, stdout: '' });
});
