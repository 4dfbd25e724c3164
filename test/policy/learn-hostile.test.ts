import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { sh, wrote, type ToldCall } from '../helpers/evidence.js';
import { learnIn, times } from '../helpers/learn.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const CEILING = `version: 1
mode: yolo
network: {allow: ["*"]}
mcp: {servers: {srv: {command: [x]}}}
`;

const used = (tool: string): ToldCall => ({ tool, kind: 'other', args: {} });

/** What three runs with a call teach, beside one that is fine, and why not the rest. */
async function learnt(call: ToldCall) {
  writeFileSync(ws.outside('c.yaml'), CEILING);
  const runs = times(3, { calls: [used('mcp:srv/fine'), call], changes: [] });
  const { lessons } = await learnIn(ws, runs, { ceiling: './c.yaml' });
  return {
    texts: lessons?.rules.flatMap(({ entries }) => entries.map(({ text }) => text)),
    why: lessons?.unlearnt.map((one) => one.why),
  };
}

test.each([
  ['mcp:srv/', 'it has no name'],
  ['mcp:srv/x*', 'its name would be a pattern'],
  ['mcp:srv/\u202Eenif', 'its name has characters that cannot be seen'],
  ['mcp:srv/fi\u200Bne', 'its name has characters that cannot be seen'],
  ['mcp:srv/x\nmode: yolo', 'its name has characters that cannot be seen'],
  ['run_shell_command,mcp:srv/x', 'there is no tool run_shell_command,mcp:srv/x'],
])('a server may call a tool %j: no rule names it, and the others are learnt', async (name, why) => {
  expect(await learnt(used(name))).toEqual({ texts: ['mcp:srv/fine'], why: [why] });
});

test.each(['mcp:srv/x, run_shell_command', 'mcp:srv/[x]', 'mcp:srv/{a,b}', 'mcp:srv/? # no', 'mcp:srv/!x'])(
  'a tool with the odd name %s is learnt by it, which means no other',
  async (name) => {
    expect((await learnt(used(name))).texts?.toSorted()).toEqual(['mcp:srv/fine', name].toSorted());
  },
);

test.each(['src/\u202Egnp.js', 'src/a\u200B', 'src/a\nb', 'src/\u2066a', 'sr\u00ADc/a', 'src/a\u{E0041}'])(
  'a path that does not look like what it is, is not learnt: %j',
  async (path) => {
    const { texts, why } = await learnt(wrote(path));
    expect([texts, why]).toEqual([['mcp:srv/fine'], ['its name has characters that cannot be seen']]);
  },
);

test('a folder that does not look like what it is, is none to run in', async () => {
  mkdirSync(ws.path('a\u200Bpp'));
  const { texts } = await learnt(sh("cd 'a\u200Bpp' && mytool a"));
  expect(texts).toEqual(['mcp:srv/fine']);
});

test.each(['./tool x', './gone/tool x', 'gone/../tool x'])(
  'a program that is not there any more is not learnt: %s',
  async (line) => {
    const { texts, why } = await learnt(sh(line));
    expect(texts).toEqual(['mcp:srv/fine']);
    expect(why?.join()).toMatch(/its program is not here|behind a link/);
  },
);
