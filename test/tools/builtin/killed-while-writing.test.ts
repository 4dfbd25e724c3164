import { spawn } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { buildProgram } from '../../helpers/child-program.js';
import { rounds } from '../../helpers/counts.js';
import { Random } from '../../helpers/random.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();
const KILLS = rounds(25);
const SIZE = 3_000_000;

/** Writes one content after another until somebody stops it, by both tools in turn. */
const PROGRAM = `
  import { replaceTool } from './src/tools/builtin/replace.ts';
  import { writeFileTool } from './src/tools/builtin/write-file.ts';
  const [workspace] = process.argv.slice(2);
  const context = { signal: new AbortController().signal, onOutput: () => {}, openOutput: () => undefined };
  async function call(tool, params) {
    const built = await tool.build({ file_path: 'file', ...params });
    const report = await built.invocation.execute(context);
    if (!report.ok) throw new Error(report.error.message);
  }
  const write = writeFileTool(workspace);
  const replace = replaceTool(workspace);
  process.stdout.write('ready');
  for (;;) {
    await call(write, { content: 'a'.repeat(${SIZE}) + '\\nend a\\n' });
    await call(replace, { old_string: 'end a', new_string: 'end b' });
  }
`;

test(
  'a process that is killed leaves the old content or the new, and one file more at the most',
  async () => {
    const random = new Random(11);
    const program = await buildProgram(PROGRAM, ws.outside('program.mjs'));
    const body = 'a'.repeat(SIZE);
    let litter = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      if (kill % 5 === 0) rmSync(ws.path('file'), { force: true });
      const child = spawn(process.execPath, [program, ws.path()], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = new Promise((resolve) => child.once('close', resolve));
      await new Promise((resolve) => child.stdout.once('data', resolve));
      await new Promise((resolve) => setTimeout(resolve, random.below(60)));
      child.kill('SIGKILL');
      await ended;
      const names = readdirSync(ws.path());
      if (names.includes('file')) {
        const text = ws.text('file');
        const ending = text.slice(SIZE);
        expect({ kill, whole: text.startsWith(body), ending }).toEqual({
          kill,
          whole: true,
          ending: expect.stringMatching(/^\nend [ab]\n$/),
        });
      }
      const others = names.filter((name) => name !== 'file');
      expect(others.every((name) => /^\.bosun-[0-9a-f]{12}\.tmp$/.test(name))).toBe(true);
      expect(others.length - litter).toBeLessThanOrEqual(1);
      litter = others.length;
    }
  },
  30_000 + KILLS * 2000,
);
