import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { engine, shell } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const POLICY = `
version: 1
mode: auto_edit
rules:
  - {id: own, tool: run_shell_command, command: [cat, grep, diff, touch, rm, mkdir, tee, 'xargs grep'], decision: allow}
`;

/** A link that a repository may ship, to a folder beside one with a key in it. */
function stage(): void {
  mkdirSync(ws.outside('beside/folder'), { recursive: true });
  writeFileSync(ws.outside('beside/id_rsa'), 'KEY');
  symlinkSync(ws.outside('beside/folder'), ws.path('link'));
  mkdirSync(ws.path('src'));
  ws.write('src/a.js', '');
  ws.write('b.js', '');
}

async function decisionsOf(lines: readonly string[]) {
  const policy = await engine(ws.path(), POLICY, { home: ws.path() });
  const decided: [string, string][] = [];
  for (const line of lines) decided.push([line, (await shell(policy, line)).decision]);
  return decided;
}

const all = (lines: readonly string[], decision: string) => lines.map((line) => [line, decision]);

test.each([
  [
    'writes',
    [
      'touch link/../{a,b}',
      'touch link/../a?',
      'touch {link/..,src}/a',
      'mkdir link/../{a,b}',
      'tee link/../{a,b} < b.js',
      'rm -f link/../a*',
      'rm -f ~/link/../{a,b}',
      'rm -f ~/link/../a',
    ],
  ],
  [
    'reads',
    [
      'cat link/../{id_rsa,b.js}',
      'cat link/../id_*',
      'cat link/../i?_rsa',
      'cat ~/link/../id_*',
      'x=link/..; cat $x/id_*',
      'grep -r KEY link/..',
      'diff -r link/.. src',
      "cat $(find link/.. -name 'id_*')",
      "find link/.. -name 'id_*' | xargs grep K",
      'cat /dev/{fd,x}/../environ',
      'cat /dev/fd/../e?viron',
      'cat /dev/{fd,x}/../../1/environ',
    ],
  ],
])('a pattern that goes up behind a link %s what the link leads to', async (_, lines) => {
  stage();
  expect(await decisionsOf(lines)).toEqual(all(lines, 'deny'));
});

test('a pattern that goes up behind a folder stays what it is', async () => {
  stage();
  const lines = ['cat src/../{b.js,src/a.js}', 'cat src/../*.js', 'touch src/../{c,d}.js', 'cat link/*'];
  expect(await decisionsOf(lines)).toEqual(all(lines, 'allow'));
});
