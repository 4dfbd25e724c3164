import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { modeOnly, type PolicyLoops } from '../../src/policy/document.js';
import { fold } from '../../src/policy/fold.js';
import { loadPolicy } from '../../src/policy/load.js';
import { presetNames } from '../../src/policy/preset-names.js';
import { readPart } from '../../src/policy/read-part.js';
import { keptPart, revivePart } from '../../src/policy/ready-part.js';
import { windowIn } from '../../src/providers/model-keys.js';
import { within } from '../helpers/bounds.js';
import { engine, load, PRESETS } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const rule = (body: string) => `version: 1\nrules:\n  - {id: r, ${body}}\n`;

describe('a policy that is not sound does not load, and the line says where and what', () => {
  const cases: [string, string, RegExp][] = [
    [
      'an unknown key',
      'version: 1\nmdoe: plan\n',
      /policy\.yaml:2:1: `mdoe` is not known \(did you mean `mode`\?\)/,
    ],
    [
      'an unknown key of a rule',
      rule('tool: write_file, decision: allow, pathh: [x]'),
      /`rules\.0\.pathh` is not known \(did you mean `path`/,
    ],
    ['a missing version', 'mode: plan\n', /`version` is missing/],
    ['another version', 'version: 2\n', /:1:1: `version` must be 1/],
    ['an unknown mode', 'version: 1\nmode: plain\n', /:2:1: `mode` must be one of .*did you mean `plan`/],
    ['a duplicate key', 'version: 1\nmode: plan\nmode: yolo\n', /:3:1: .*unique/i],
    ['a wrong type', 'version: 1\nrules: yes\n', /:2:1: `rules` must be a list/],
    ['loops that are no', 'version: 1\nloops: false\n', /:2:1: `loops` must be/],
    [
      'an unknown key of loops',
      'version: 1\nloops: {repeat: 5}\n',
      /`loops\.repeat` is not known \(did you mean/,
    ],
    ['a loop of one call', 'version: 1\nloops: {repeats: 1}\n', /`loops\.repeats` must be >= 2/],
    ['empty loops', 'version: 1\nloops:\n', /:2:1: `loops` must be/],
    [
      'a window without room',
      'version: 1\nmodel: {context_window: 10}\n',
      /`model\.context_window` must be >= 1000/,
    ],
    ['a share above 1', 'version: 1\ncontext: {compress_at: 70}\n', /`context\.compress_at` must be <= 1/],
    ['a share of nothing', 'version: 1\ncontext: {compress_at: 0}\n', /`context\.compress_at` must be > 0/],
    ['null where rules belong', 'version: 1\nrules:\n', /`rules` must be a list/],
    ['an empty list of rules', 'version: 1\nrules: []\n', /`rules` must NOT have fewer/],
    ['an empty command', rule('tool: run_shell_command, decision: allow, command: []'), /command/],
    ['a blank pattern', rule('tool: run_shell_command, decision: allow, command: [" "]'), /command/],
    ['null as a command', rule('tool: run_shell_command, decision: allow, command: null'), /command/],
    ['null as a path', rule('tool: write_file, decision: allow, path: null'), /path/],
    [
      'a pattern with an operator',
      rule('tool: run_shell_command, decision: allow, command: ["git; id"]'),
      /not a list of plain words/,
    ],
    [
      'an unknown tool',
      rule('tool: write_fil, decision: allow'),
      /there is no tool `write_fil` \(did you mean `write_file`/,
    ],
    [
      'a command for a file tool',
      rule('tool: write_file, decision: allow, command: [x]'),
      /`command` goes with run_shell_command/,
    ],
    ['a path for the shell', rule('tool: run_shell_command, decision: allow, path: [x]'), /`path` goes with/],
    ['an unknown decision', rule('tool: write_file, decision: alow'), /did you mean `allow`/],
    ['a duration without a unit', 'version: 1\nlimits: {time: "30"}\n', /`limits\.time`/],
    [
      'two rules with one id',
      'version: 1\nrules:\n  - {id: a, tool: glob, decision: allow}\n  - {id: a, tool: glob, decision: deny}\n',
      /:4:6: there are two rules/,
    ],
    [
      'an unknown preset',
      'version: 1\nextends: [readonly]\n',
      /:2:11: there is no preset readonly \(did you mean read-only/,
    ],
    ['a base that is not there', 'version: 1\nextends: [./no.yaml]\n', /no\.yaml cannot be read/],
    [
      'a sandbox mode that is none',
      'version: 1\nsandbox: {mode: on}\n',
      /must be one of off, auto, required/,
    ],
    [
      'a size without a unit',
      'version: 1\nsandbox: {limits: {memory: "512"}}\n',
      /:2:\d+: `sandbox\.limits\.memory` must be written like 512MiB or 4GiB$/,
    ],
    [
      'a pattern of variables',
      'version: 1\nshell: {env: {pass: ["*"]}}\n',
      /:2:\d+: "\*" is not the name of a variable/,
    ],
    [
      "the model's own key for programs",
      'version: 1\nshell: {env: {pass: [NODE_ENV, GEMINI_API_KEY]}}\n',
      /:2:\d+: GEMINI_API_KEY is a key of the model; no program gets it/,
    ],
    [
      'a variable that runs code, for a server',
      'version: 1\nmcp: {servers: {s: {command: [x], env: {pass: [LD_PRELOAD]}}}}\n',
      /LD_PRELOAD can make programs run other code/,
    ],
    ['an answer that nobody knows', 'version: 1\non_ask: later\n', /must be one of deny, fail, defer/],
    ['an approver without a program', 'version: 1\non_ask: {timeout: 5s}\n', /on_ask/],
    [
      'a key that is none',
      'version: 1\napprovals: {trusted_keys: [AAAA]}\n',
      /`AAAA` is not a public ed25519 key/,
    ],
    ['broken YAML', 'version: 1\nmode: [plan\n', /:\d+:\d+: /],
    ['nothing at all', '', /the value must be an object/],
    [
      'a rule that never decides',
      'version: 1\nrules:\n  - {id: a, tool: run_shell_command, command: [git push], decision: allow}\n  - {id: b, tool: run_shell_command, command: [git], decision: deny}\n',
      /:3:1: rule `a` can never decide: rule `b` \(line 4\)/,
    ],
    [
      'an example that does not fit',
      rule('tool: run_shell_command, decision: allow, command: [npm test], match: ["npm testx"]'),
      /does not match "npm testx"/,
    ],
    [
      'a counterexample that fits',
      rule('tool: run_shell_command, decision: allow, command: [npm test], not_match: ["npm test --ci"]'),
      /it matches "npm test --ci"/,
    ],
    [
      'a path example that does not fit',
      rule('tool: write_file, decision: allow, path: ["src/**"], match: [lib/a]'),
      /does not match "lib\/a"/,
    ],
    [
      'examples without anything to check',
      rule('tool: write_file, decision: allow, match: [x]'),
      /examples need/,
    ],
  ];
  test.each(cases)('%s', async (_what, text, message) => {
    await expect(load(ws.path(), text)).rejects.toMatchObject({
      name: 'Problem',
      status: 'config_error',
      message: expect.stringMatching(message),
    });
  });

  test('a small file that would become a large one', async () => {
    const bomb = `version: 1\nrules: &a [${'x,'.repeat(9)}x]\n${Array.from(
      { length: 8 },
      (_, i) =>
        `k${i}: &b${i} [${Array<string>(9)
          .fill(i === 0 ? '*a' : `*b${i - 1}`)
          .join(',')}]`,
    ).join('\n')}\n`;
    await within(2000, () => expect(load(ws.path(), bomb)).rejects.toMatchObject({ name: 'Problem' }));
  });

  test('one that extends itself', async () => {
    writeFileSync(ws.path('a.yaml'), 'version: 1\nextends: [./b.yaml]\n');
    writeFileSync(ws.path('b.yaml'), 'version: 1\nextends: [./a.yaml]\n');
    await expect(loadPolicy('./a.yaml', { folder: ws.path(), presets: PRESETS })).rejects.toMatchObject({
      message: expect.stringMatching(/extends itself/),
    });
  });
});

describe('loops', () => {
  const loopsOf = async (text: string) => (await load(ws.path(), `version: 1\n${text}`)).loops;

  test('are a table or off, and what is not said is left open', async () => {
    expect(await loopsOf('loops: off\n')).toBe('off');
    expect(await loopsOf('loops: {repeats: 7, more: 1}\n')).toEqual({ repeats: 7, more: 1 });
    expect(await loopsOf('mode: plan\n')).toBeUndefined();
  });

  test('of a base give way value by value', async () => {
    writeFileSync(ws.path('base.yaml'), 'version: 1\nloops: {repeats: 7, more: 1}\n');
    writeFileSync(ws.path('off.yaml'), 'version: 1\nloops: off\n');
    expect(await loopsOf('extends: [./base.yaml]\nloops: {repeats: 9}\n')).toEqual({ repeats: 9, more: 1 });
    expect(await loopsOf('extends: [./base.yaml]\nloops: off\n')).toBe('off');
    expect(await loopsOf('extends: [./off.yaml]\nloops: {repeats: 9}\n')).toEqual({ repeats: 9 });
    expect(await loopsOf('extends: [./off.yaml]\n')).toBe('off');
  });

  test('of several policies: the strictest of those that speak of them', () => {
    const saying = (loops: PolicyLoops | undefined) => ({ ...modeOnly('plan'), loops });
    expect(fold([saying(undefined)]).loops).toEqual({ repeats: 5, cycle: 4, cycle_repeats: 4, more: 3 });
    expect(fold([saying(undefined), saying('off')]).loops).toBe('off');
    expect(fold([saying('off'), saying({ repeats: 9 })]).loops).toMatchObject({ repeats: 9, cycle: 4 });
    expect(
      fold([saying({ repeats: 9, cycle: 2 }), saying({ more: 1, cycle: 6, cycle_repeats: 3 })]).loops,
    ).toEqual({ repeats: 5, cycle: 6, cycle_repeats: 3, more: 1 });
  });
});

test('of several policies the smallest window and the earliest compression count', () => {
  const saying = (contextWindow?: number, share?: number) => ({
    ...modeOnly('plan'),
    modelKeys: { settings: {}, prices: {}, ...(contextWindow !== undefined && { contextWindow }) },
    compressAt: share,
  });
  expect(windowIn(fold([saying()]).modelKeys, 'somebody-elses')).toBe(128_000);
  expect(windowIn(fold([saying()]).modelKeys, 'gemini-9-unheard-of')).toBe(1_048_576);
  expect(windowIn(fold([saying(9000), saying(), saying(8000)]).modelKeys, 'gemini-2.5-pro')).toBe(8000);
  expect(fold([saying()]).compressAt).toBe(0.7);
  expect(fold([saying(9000, 0.9), saying(), saying(1, 0.4)]).compressAt).toBe(0.4);
});

test('words like off and no are words', async () => {
  const document = await load(ws.path(), 'version: 1\nshell: {env: {set: {COLOR: off, NO: "no"}}}\n');
  expect(document.shell.set).toEqual({ COLOR: 'off', NO: 'no' });
});

test('what a policy extends adds its lists and gives way in single values', async () => {
  mkdirSync(ws.path('sub'));
  writeFileSync(
    join(ws.path('sub'), 'base.yaml'),
    'version: 1\nmode: yolo\non_denied: warn\nlimits: {turns: 9, denials: 3}\nworkspace: {include: [../lib], read_deny: [a]}\nrules: [{id: base, tool: glob, decision: deny}]\n',
  );
  const document = await load(
    ws.path(),
    'version: 1\nextends: [./sub/base.yaml]\nmode: manual\nlimits: {turns: 5}\nworkspace: {read_deny: [b]}\nrules: [{id: own, tool: glob, decision: allow, path: [x]}, {id: other, tool: read_file, decision: allow}]\n',
  ).catch((error: Error) => error);
  // Its deny stays, and makes the allow about the same tool useless: that is said.
  expect((document as Error).message).toMatch(/rule `own` can never decide: rule `base`/);
  const fine = await load(
    ws.path(),
    'version: 1\nextends: [./sub/base.yaml]\nmode: manual\nlimits: {turns: 5}\nworkspace: {read_deny: [b]}\nrules: [{id: other, tool: read_file, decision: allow}]\n',
  );
  expect(fine).toMatchObject({
    mode: 'manual',
    onDenied: 'warn',
    limits: { turns: 5, denials: 3 },
    workspace: { include: ['../lib'], readDeny: ['a', 'b'] },
  });
  expect(fine.rules.map(({ reference }) => reference.id)).toEqual(['base', 'other']);
  expect(fine.sources).toHaveLength(2);
});

test('lists that only add may be empty, for what they add', async () => {
  const { sandbox, workspace } = await load(
    ws.path(),
    'version: 1\nworkspace: {include: [], write_allow: []}\nshell: {env: {pass: []}}\nsandbox: {bind_ro: [], bind_rw: []}\n',
  );
  expect(sandbox).toMatchObject({ bindRo: [], bindRw: [] });
  expect(workspace).toMatchObject({ include: [], writeAllow: [] });
  await expect(load(ws.path(), 'version: 1\nworkspace: {read_deny: []}\n')).rejects.toThrow(
    /must NOT have fewer/,
  );
});

test.each(presetNames(PRESETS))('the preset %s loads, and each of its rules has a reason', async (name) => {
  const document = await loadPolicy(name, { folder: '/', presets: PRESETS });
  for (const compiled of document.rules) {
    expect(compiled.reason).not.toMatch(/^rule /);
    if (compiled.commands)
      expect([compiled.match.length, compiled.notMatch.length].every((count) => count > 0)).toBe(true);
  }
});

test.each(presetNames(PRESETS))('the build keeps all that the preset %s says', async (name) => {
  const part = await readPart(join(PRESETS, `${name}.yaml`));
  const kept = keptPart(part);
  expect(kept).not.toContain(PRESETS);
  const { locate: _locate, isTried, ...again } = revivePart(kept, PRESETS);
  const { locate: _own, ...written } = part;
  expect([again, isTried]).toEqual([written, true]);
});

test.each([
  ['read-only', []],
  ['review', []],
  ['codemod', []],
  ['ci-fix', expect.arrayContaining(['registry.npmjs.org', 'static.crates.io', 'repo.maven.apache.org'])],
  ['yolo', undefined],
])('the preset %s lets commands in the sandbox reach %j', async (name, hosts) => {
  const { network, sandbox } = await loadPolicy(name, { folder: '/', presets: PRESETS });
  expect(network?.allow.map(({ text }) => text)).toEqual(hosts);
  expect(sandbox?.mode).toBe('auto');
});

test('hosts of a policy are added to those of the preset that it extends', async () => {
  const hosts = async (text: string) =>
    (await load(ws.path(), `version: 1\n${text}`)).network?.allow.map((one) => one.text);
  expect(await hosts('extends: [codemod]\nnetwork: {allow: [a.example]}\n')).toEqual(['a.example']);
  const all = await hosts('extends: [ci-fix]\nnetwork: {allow: [a.example]}\n');
  expect(all).toEqual([...((await hosts('extends: [ci-fix]\nnetwork: {}\n')) ?? []), 'a.example']);
});

test('the hosts of ci-fix are there for package managers, not for the model', async () => {
  const policy = await engine(ws.path(), 'version: 1\nextends: [ci-fix]\n');
  expect(policy.mayOffer({ name: 'web_fetch', kind: 'fetch' })).toBe(false);
});
