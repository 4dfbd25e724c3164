import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parseYaml } from '../../src/lib/yaml.js';
import { sh, wrote } from '../helpers/evidence.js';
import { learnIn } from '../helpers/learn.js';
import { engine, shell } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const GIT = 'tool: run_shell_command, command: git status, decision: allow';
const CALLS = [sh('git status'), sh('git diff src'), sh('mytool "a"'), wrote('docs/a')];

async function merge(policy: string) {
  writeFileSync(ws.outside('mine.yaml'), policy);
  return learnIn(ws, [CALLS], { merge: './mine.yaml' });
}

interface Written {
  readonly rules?: readonly { readonly id: string }[];
}

function valueOf(text: string): Written {
  const parsed = parseYaml(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value as Written;
}

/** What stands between the beginning and the end that two texts have in common. */
function middles(before: string, after: string): [string, string] {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)];
}

const POLICIES: Readonly<Record<string, string>> = {
  'a list in lines': `version: 1\nrules:\n  - id: git\n    ${GIT.replaceAll(', ', '\n    ')}\n`,
  'odd quotes and blanks': `version:   1\n"mode": 'plan'\n\n\nrules:   # ours\n   -   { id: 'git' ,  ${GIT} }   # why\n\n\n# the end\nlimits: {turns: 0x5}\n`,
  'dashes at the margin': `version: 1\nrules:\n- {id: git, ${GIT}}\n# last words`,
  'no line break at the end': `version: 1\nrules:\n  - {id: git, ${GIT}}`,
  'text over several lines': `version: 1\nrules:\n  - id: git\n    reason: >\n      looks\n      only\n\n    ${GIT.replaceAll(', ', '\n    ')}\n    match:\n      - git status\nmode: plan\n`,
  'a dash by itself': `version: 1\nrules:\n  -\n    id: git\n    ${GIT.replaceAll(', ', '\n    ')}\n`,
  'other line breaks': `version: 1\r\nrules:\r\n  - {id: git, ${GIT}} # why\r\n\r\nmode: plan\r\n`,
  'a list in brackets': `version: 1 # one\nrules: [{id: git, ${GIT}}] # two\nmode: plan\n`,
  'brackets over lines': `version: 1\nrules: [\n    # first\n    {id: git, ${GIT}}, # why\n    # last\n  ]\nmode: plan\n`,
  'brackets without a last comma': `version: 1\nrules: [\n  {id: git,\n   ${GIT}} # why, really\n]\n`,
  'brackets with other line breaks': `version: 1\r\nrules: [\r\n  {id: git, ${GIT}},\r\n]\r\n`,
  'a comma and a bracket': `version: 1\nrules: [ {id: git, ${GIT}}, ]\n`,
  'no rules': 'version: 1 # one\n\n# two\n',
  'no rules and no line break': 'version: 1 # one',
  'no rules and other line breaks': 'version: 1\r\nmode: plan\r\n',
  'no rules and an end': '---\nversion: 1\n# two\n...\n',
  'all in brackets': `{version: 1, rules: [{id: git, ${GIT}}]}\n`,
  'all in brackets without rules': '{\n  version: 1,\n  mode: plan # so\n}\n',
  JSON: `{\n  "version": 1,\n  "rules": [\n    {"id": "git", "tool": "run_shell_command", "command": "git status", "decision": "allow"}\n  ]\n}\n`,
  'rules of others': `version: 1\nextends: [read-only]\nrules:\n  - {id: git, ${GIT}}\n`,
  'only rules of others': 'version: 1\nextends: [read-only] # looks\nmode: plan\n',
  anchors: `version: 1\nrules:\n  - &a {id: git, ${GIT}}\n  - {<<: *a, id: other}\n`.replace(
    '<<: *a, ',
    `${GIT}, `,
  ),
};

test.each(Object.keys(POLICIES))('%s: every byte stays, and only what is missing is added', async (name) => {
  const before = POLICIES[name] ?? '';
  const { text, diff } = await merge(before);
  const [gone, more] = middles(before, text);
  expect(more).toContain(gone);
  if (before.includes('\r\n')) expect(text.replaceAll('\r\n', '')).not.toContain('\n');
  const [{ rules: old = [], ...others }, { rules: now = [], ...same }] = [valueOf(before), valueOf(text)];
  expect(same).toEqual(others);
  expect(now.slice(0, old.length)).toEqual(old);
  const ids = now.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(now.length).toBeGreaterThan(old.length);
  expect(diff).toMatch(/^\+.*mytool a/m);
  const policy = await engine(ws.path(), text);
  for (const line of ['git status', 'git diff src', 'mytool a'])
    expect([line, (await shell(policy, line)).decision]).toEqual([line, 'allow']);
  expect(await merge(text)).toMatchObject({ diff: '', text });
});

test('JSON stays JSON', async () => {
  const policy = JSON.stringify({ version: 1, mode: 'plan' }, null, 2);
  for (const before of [policy, POLICIES['JSON'] ?? '', '{"version": 1}'])
    expect(JSON.parse((await merge(before)).text)).toMatchObject({ version: 1 });
});

test('what cannot be added to is said, and left as it is', async () => {
  const policy = `version: 1\nmode: plan\nrules: &all\n  !!seq [{id: git, ${GIT}}]\n`;
  writeFileSync(ws.outside('mine.yaml'), policy);
  const { text } = await merge(policy).catch((error: Error) => ({ text: error.message }));
  expect(text).toMatch(/mytool a|cannot be added/);
  expect(readFileSync(ws.outside('mine.yaml'), 'utf8')).toBe(policy);
});
