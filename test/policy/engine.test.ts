import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { allOf } from '../../src/policy/all-of.js';
import { createEngine } from '../../src/policy/engine.js';
import { within } from '../helpers/bounds.js';
import { engine, load, shell, write } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

test('of all rules that fit the strictest counts, wherever it stands', async () => {
  const policy = await engine(
    ws.path(),
    `version: 1
mode: yolo
rules:
  - {id: deny, tool: write_file, path: ["src/secret/**"], decision: deny, reason: keep out}
  - {id: allow, tool: write_file, path: ["src/**"], decision: allow}
  - {id: ask, tool: write_file, path: ["src/api/**"], decision: ask}
`,
  );
  expect(await write(policy, 'src/a')).toMatchObject({ decision: 'allow', rule: { id: 'allow', line: 5 } });
  expect(await write(policy, 'src/api/a')).toMatchObject({ decision: 'ask', rule: { id: 'ask' } });
  expect(await write(policy, 'src/secret/a')).toMatchObject({
    decision: 'deny',
    rule: { id: 'deny' },
    reason: 'keep out',
  });
  expect(await write(policy, 'src/SECRET/a')).toMatchObject({ decision: 'deny' });
  expect(await write(policy, 'other')).toMatchObject({ decision: 'allow', rule: null, default: 'yolo' });
});

test('an allow rule works in plan, and only for what it names', async () => {
  const policy = await engine(
    ws.path(),
    'version: 1\nmode: plan\nrules: [{id: docs, tool: [write_file, replace], path: ["docs/**"], decision: allow}]\n',
  );
  expect(await write(policy, 'docs/a.md')).toMatchObject({ decision: 'allow' });
  expect(await write(policy, 'src/a')).toMatchObject({ decision: 'deny', default: 'plan' });
  expect(policy.mayOffer({ name: 'write_file', kind: 'edit' })).toBe(true);
  expect(policy.mayOffer({ name: 'run_shell_command', kind: 'execute' })).toBe(false);
});

test('a rule about paths looks at where a link leads', async () => {
  mkdirSync(ws.path('docs'));
  mkdirSync(ws.path('src'));
  symlinkSync('../src', ws.path('docs/link'));
  const policy = await engine(
    ws.path(),
    'version: 1\nrules: [{id: docs, tool: write_file, path: ["docs/**"], decision: allow}]\n',
  );
  expect(await write(policy, 'docs/link/a')).toMatchObject({ decision: 'deny' });
  expect(await write(policy, 'docs')).toMatchObject({ decision: 'allow' });
});

describe('the boundary holds against every rule and mode', () => {
  const wide = 'version: 1\nmode: yolo\nrules: [{id: all, tool: "*", decision: allow}]\n';
  test.each(['.git/hooks/x', '.github/workflows/x.yml', '.env', 'key.pem', 'policy.yaml'])(
    '%s is not written',
    async (path) => {
      expect(await write(await engine(ws.path(), wide), path)).toMatchObject({ decision: 'deny' });
    },
  );

  test.each([
    'echo x > .git/config',
    'echo x >> ../outside',
    'cat < .env',
    'cp a .git/hooks/pre-commit',
    'cat .env',
    'tee policy.yaml',
    'echo x > policy.yaml',
    'cat /proc/self/environ',
  ])('the command %s neither', async (command) => {
    expect(await shell(await engine(ws.path(), wide), command)).toMatchObject({ decision: 'deny' });
  });

  test('write_allow lifts it for what it names', async () => {
    const policy = await engine(ws.path(), `${wide}workspace: {write_allow: [".github/workflows/**"]}\n`);
    expect(await write(policy, '.github/workflows/ci.yml')).toMatchObject({ decision: 'allow' });
    expect(await write(policy, '.git/config')).toMatchObject({ decision: 'deny' });
  });

  test('read_deny, write_deny and include are the policy’s own', async () => {
    mkdirSync(ws.outside('lib'));
    const policy = await engine(
      ws.path(),
      `${wide}workspace: {include: [../lib], read_deny: ["private/**"], write_deny: ["*.lock"]}\n`,
    );
    expect(await write(policy, '../lib/a')).toMatchObject({ decision: 'allow' });
    expect(await write(policy, 'PRIVATE/a')).toMatchObject({ decision: 'deny' });
    expect(await write(policy, 'yarn.lock')).toMatchObject({ decision: 'deny' });
    expect(await shell(policy, 'cat private/x')).toMatchObject({ decision: 'deny' });
    expect(await write(policy, '../elsewhere')).toEqual({ outside: expect.stringContaining('elsewhere') });
  });
});

test('with read_scope workspace commands stay inside', async () => {
  const text =
    'version: 1\nrules: [{id: cat, tool: run_shell_command, command: [cat, ls], decision: allow}]\n';
  const any = await engine(ws.path(), text);
  expect(await shell(any, 'cat /etc/hostname')).toMatchObject({ decision: 'allow' });
  const scoped = await engine(ws.path(), `${text}shell: {read_scope: workspace}\n`);
  for (const command of ['cat /etc/hostname', 'cat ../x', 'cat ~/x', 'ls /*', 'cat --x=/etc/passwd']) {
    expect([command, (await shell(scoped, command)).decision]).toEqual([command, 'deny']);
  }
  expect(await shell(scoped, 'cat src/a && ls *.js')).toMatchObject({ decision: 'allow' });
});

test('with read_scope workspace nothing is listed outside, whoever prints the names', async () => {
  const policy = await engine(
    ws.path(),
    'version: 1\nshell: {read_scope: workspace}\nrules: [{id: p, tool: run_shell_command, command: [echo, printf], decision: allow}]\n',
  );
  const outside = [
    'echo /etc/*',
    'printf %s ../*',
    'echo ~/*',
    'for f in /etc/*; do echo $f; done',
    'echo .e*',
  ];
  for (const line of outside) expect([line, (await shell(policy, line)).decision]).toEqual([line, 'deny']);
  for (const line of ['echo "/etc/*" /etc', 'echo *', 'printf %s src/*', 'echo what? [ok] 2*3'])
    expect([line, (await shell(policy, line)).decision]).toEqual([line, 'allow']);
});

test('rules for strangers count only with input from strangers', async () => {
  const text =
    'version: 1\nmode: yolo\nrules: [{id: strangers, tool: run_shell_command, when: untrusted, decision: deny}]\n';
  expect(await shell(await engine(ws.path(), text), 'ls')).toMatchObject({ decision: 'allow' });
  const wary = await engine(ws.path(), text, { untrusted: true });
  expect(await shell(wary, 'ls')).toMatchObject({ decision: 'deny', rule: { id: 'strangers' } });
  expect(wary.mayOffer({ name: 'run_shell_command', kind: 'execute' })).toBe(false);
});

test('each simple command has its own decision, and the line the strictest', async () => {
  const policy = await engine(
    ws.path(),
    'version: 1\nmode: manual\nrules: [{id: t, tool: run_shell_command, command: [npm test], decision: allow}, {id: no, tool: run_shell_command, command: [git push], decision: deny}]\n',
  );
  const { decision, commands } = await shell(policy, 'cd . && npm test | tail -3; /usr/bin/git -C . push');
  expect(decision).toBe('deny');
  expect(commands?.map((command) => [command.words.join(' '), command.decision, command.rule?.id])).toEqual([
    ['cd .', 'allow', undefined],
    ['npm test', 'allow', 't'],
    ['tail -3', 'ask', undefined],
    ['/usr/bin/git -C . push', 'deny', 'no'],
  ]);
});

test('what cannot be understood is denied; in yolo only if something is denied by name', async () => {
  const open = await engine(ws.path(), 'version: 1\nmode: yolo\n');
  const guarded = await engine(
    ws.path(),
    'version: 1\nmode: yolo\nrules: [{id: no, tool: run_shell_command, command: [rm], decision: deny}]\n',
  );
  for (const line of [
    'echo "unterminated',
    '$X y',
    'eval "$X"',
    'coproc ls',
    'echo x | bash',
    '"$(echo rm)" x',
  ]) {
    expect([line, (await shell(open, line)).decision, (await shell(guarded, line)).decision]).toEqual([
      line,
      'allow',
      'deny',
    ]);
  }
});

test('of several policies each decides on its own, and the strictest answer counts', async () => {
  const a = await engine(ws.path(), 'version: 1\nmode: yolo\n');
  const b = await engine(
    ws.path(),
    'version: 1\nmode: plan\nrules: [{id: w, tool: write_file, decision: ask}]\n',
  );
  const both = allOf([a, b]);
  expect(await write(both, 'x')).toMatchObject({ decision: 'ask', rule: { id: 'w' } });
  expect(await shell(both, 'ls')).toMatchObject({ decision: 'deny' });
  expect(both.mayOffer({ name: 'run_shell_command', kind: 'execute' })).toBe(false);
});

test('the shell tool tells the model what is allowed', async () => {
  const policy = await engine(
    ws.path(),
    'version: 1\nrules: [{id: t, tool: run_shell_command, command: [npm test, git diff], decision: allow}]\n',
  );
  expect(policy.describe('run_shell_command')).toContain('npm test; git diff');
  expect(policy.describe('read_file')).toBeUndefined();
});

test('tools that are excluded or not offered are not offered', async () => {
  const policy = await engine(
    ws.path(),
    'version: 1\nmode: yolo\ntools: {offer: [read_file, "*_file", replace], exclude: [replace]}\n',
  );
  const offered = ['read_file', 'write_file', 'replace', 'list_directory'].filter((name) =>
    policy.mayOffer({ name, kind: 'read' }),
  );
  expect(offered).toEqual(['read_file', 'write_file']);
});

test('a thousand rules are decided soon: in two milliseconds', async () => {
  const rules = Array.from(
    { length: 1000 },
    (_, i) => `  - {id: r${i}, tool: run_shell_command, command: [tool${i} sub], decision: allow}`,
  );
  const policy = await engine(ws.path(), `version: 1\nrules:\n${rules.join('\n')}\n`);
  await shell(policy, 'tool1 sub');
  await within(100 * 2, async () => {
    for (let i = 0; i < 100; i++)
      expect((await shell(policy, `tool${999 - i} sub x | tool${i} sub`)).decision).toBe('allow');
  });
});

test('names with line breaks, odd blanks and capitals are names like any other', async () => {
  const policy = await engine(
    ws.path(),
    'version: 1\nmode: yolo\nrules: [{id: no, tool: write_file, path: ["private/**", "**/x"], decision: deny}]\nworkspace: {write_deny: ["*.lock"]}\n',
  );
  for (const path of [
    'private/a\nb',
    'private/\n',
    'PRIVATE/.x\ny',
    'a\n/x',
    'a\nb.LOCK',
    'private/\u2028',
  ]) {
    expect([path, await write(policy, path)]).toEqual([path, expect.objectContaining({ decision: 'deny' })]);
  }
  const docs = await engine(
    ws.path(),
    'version: 1\nrules: [{id: docs, tool: write_file, path: ["docs/**"], decision: allow}]\n',
  );
  expect(await write(docs, 'docs/a\nb')).toMatchObject({ decision: 'allow' });
  expect(await write(docs, 'Docs/a')).toMatchObject({ decision: 'deny' });
});

test('hard links to protected files are files like any other: the rule is about paths', async () => {
  ws.write('a', 'x');
  linkSync(ws.path('a'), ws.path('b'));
  expect(await write(await engine(ws.path(), 'version: 1\nmode: yolo\n'), 'b')).toMatchObject({
    decision: 'allow',
  });
});

describe('no change of one key or value lets through what the original refused', () => {
  const POLICY = {
    version: 1,
    mode: 'manual',
    on_ask: 'deny',
    rules: [
      { id: 'tests', tool: 'run_shell_command', command: ['npm test', 'git diff'], decision: 'allow' },
      { id: 'docs', tool: ['write_file', 'replace'], path: ['docs/**'], decision: 'allow' },
      { id: 'never', tool: 'run_shell_command', command: ['git push'], decision: 'deny' },
    ],
    workspace: { read_deny: ['private/**'], write_deny: ['*.lock'] },
    shell: { read_scope: 'workspace' },
  };
  const CALLS = [
    'npm test; id',
    'git push',
    'id',
    'cat private/x',
    'npm publish',
    'git difftool',
    'echo x > src/a',
    'cat /etc/passwd',
  ];
  const mutations = mutate(POLICY);

  test(`${mutations.length} misspellings and wrong types`, async () => {
    const original = await engine(ws.path(), JSON.stringify(POLICY));
    const refused = await Promise.all(
      CALLS.map(async (call) => (await shell(original, call)).decision !== 'allow'),
    );
    expect(refused.every(Boolean)).toBe(true);
    let loaded = 0;
    for (const mutant of mutations) {
      const document = await load(ws.path(), JSON.stringify(mutant)).catch(() => undefined);
      if (!document) continue;
      loaded++;
      const policy = await engine(ws.path(), JSON.stringify(mutant));
      for (const call of CALLS)
        expect([JSON.stringify(mutant), call, (await shell(policy, call)).decision === 'allow']).toEqual([
          JSON.stringify(mutant),
          call,
          false,
        ]);
    }
    // Words inside patterns cannot be known to be wrong; everything else is noticed.
    expect(loaded).toBeLessThan(mutations.length / 2);
  });
});

/** Every policy that differs from the given one by one mistake. */
function mutate(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    return [
      ...value.flatMap((item, i) => mutate(item).map((mutant) => value.toSpliced(i, 1, mutant))),
      [],
      null,
    ];
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => [
      ...mutate(inner).map((mutant) => ({ ...value, [key]: mutant })),
      ...[`${key}x`, key.slice(0, -1) || 'q', key.toUpperCase()].map((name) =>
        Object.fromEntries(Object.entries(value).map(([k, v]) => [k === key ? name : k, v])),
      ),
    ]);
  }
  return [null, [], {}, '', 0, `${String(value)}x`, String(value).slice(1), String(value).toUpperCase()];
}

test('path rules count in a workspace at the very top as well', async () => {
  const document = await load(
    ws.path(),
    'version: 1\nmode: yolo\nrules: [{id: a, tool: write_file, path: ["src/**"], decision: deny}]\n',
  );
  const policy = createEngine(document, {
    workspace: '/',
    writeProtected: [],
    home: undefined,
    untrusted: false,
  });
  expect(await write(policy, '/src/a')).toMatchObject({ decision: 'deny', rule: { id: 'a' } });
});
