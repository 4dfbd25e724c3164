import { writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseYaml } from '../../src/lib/yaml.js';
import { engine, shell } from '../helpers/policy.js';
import { sh, wrote, type ToldCall } from '../helpers/evidence.js';
import { learnIn, times } from '../helpers/learn.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

interface Written {
  readonly rules?: readonly { readonly id: string; readonly tool: unknown; readonly decision: string }[];
  readonly [key: string]: unknown;
}

function valuesOf(text: string): Written {
  const parsed = parseYaml(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value as Written;
}

function ceilings(...policies: string[]): { ceiling: string[] } {
  return {
    ceiling: policies.map((text, i) => {
      writeFileSync(ws.outside(`c${i}.yaml`), `version: 1\n${text}`);
      return `./c${i}.yaml`;
    }),
  };
}

describe('several ceilings', () => {
  test('only what each of them allows is learnt, and what one denies stays denied', async () => {
    const both = ceilings(
      'mode: yolo\nrules:\n  - {id: no, tool: run_shell_command, command: git tag, decision: deny}\n',
      `rules:
  - {id: some, tool: run_shell_command, command: [git log, npm test], decision: allow}
  - {id: whole, tool: run_shell_command, command: [ls src], exact: true, decision: allow}
`,
    );
    ws.write('src/a', '');
    ws.write('package.json', '{"scripts":{"test":"jest"}}');
    const lines = ['git log -3', 'git status', 'ls src', 'ls', 'npm test'];
    const { text } = await learnIn(ws, [lines.map((line) => sh(line))], both);
    expect(text).toContain('The ceiling is ./c0.yaml, ./c1.yaml.');
    const policy = await engine(ws.path(), text);
    const allowed = async (line: string) => (await shell(policy, line)).decision;
    expect(await Promise.all(lines.map(allowed))).toEqual(['allow', 'deny', 'allow', 'deny', 'allow']);
    // What a ceiling leaves open may be left open; what it names exactly may not.
    expect(await allowed('git log --stat')).toBe('allow');
    expect(await allowed('ls src -a')).toBe('deny');
    expect(valuesOf(text).rules).toContainEqual(expect.objectContaining({ id: 'no', decision: 'deny' }));
  });

  test('the smallest limit, the shared variables and tools, the strictest sandbox are carried over', async () => {
    const { text } = await learnIn(
      ws,
      [[sh('git status')]],
      ceilings(
        `mode: yolo
limits: {time: 90s, turns: 9, stored_output: 1GiB}
tools: {offer: ["*"], exclude: [glob]}
shell: {timeout: 2m, env: {pass: [A, B]}}
sandbox: {mode: auto, bind_ro: [~/.npm], limits: {memory: 2GiB}}
workspace: {include: [../x, ../y], read_deny: [s]}
`,
        `mode: yolo
limits: {time: 30m, turns: 50, stored_output: 1MiB}
tools: {offer: [run_shell_command, read_file]}
shell: {timeout: 10m, env: {pass: [B]}}
sandbox: {mode: required, limits: {memory: 4GiB, processes: 10}}
workspace: {include: [../y], write_deny: [g]}
`,
      ),
    );
    expect(valuesOf(text)).toMatchObject({
      limits: { time: '90s', turns: 9, stored_output: '1MiB' },
      tools: { offer: ['run_shell_command', 'read_file'], exclude: ['glob'] },
      shell: { timeout: '2m', env: { pass: ['B'] }, read_scope: 'workspace' },
      sandbox: { mode: 'required', limits: { memory: '2GiB', processes: 10 } },
      workspace: { include: ['../y'], read_deny: ['s'], write_deny: ['g'] },
    });
    expect(text).not.toContain('.npm');
  });

  test('variables that only one of them passes on are not', async () => {
    const both = ceilings('mode: yolo\nshell: {env: {pass: [A]}}\n', 'mode: yolo\n');
    const { text } = await learnIn(ws, [[sh('git status')]], both);
    expect(valuesOf(text)['shell']).toEqual({ read_scope: 'workspace' });
  });

  test('what a ceiling extends counts', async () => {
    writeFileSync(
      ws.outside('base.yaml'),
      `version: 1
workspace: {read_deny: ["secret/**"]}
rules:
  - {id: base-no, tool: run_shell_command, command: git blame, decision: deny}
  - {id: base-yes, tool: run_shell_command, command: [git log], decision: allow}
`,
    );
    const one = ceilings('extends: [./base.yaml]\nmode: plan\n');
    const { text } = await learnIn(ws, [[sh('git log -3'), sh('git blame a'), sh('git status')]], one);
    const policy = await engine(ws.path(), text);
    expect((await shell(policy, 'git log')).decision).toBe('allow');
    expect((await shell(policy, 'git blame a')).decision).toBe('deny');
    expect(valuesOf(text).rules).toContainEqual(expect.objectContaining({ id: 'base-no', decision: 'deny' }));
    expect((await shell(policy, 'cat secret/x')).decision).toBe('deny');
    expect(valuesOf(text)).toMatchObject({ workspace: { read_deny: ['secret/**'] } });
  });
});

describe('tools of servers', () => {
  const SERVERS = `mcp:
  servers:
    gh: {command: [gh-mcp], trust: true}
    other: {command: [other-mcp]}
`;
  const used = (tool: string): ToldCall => ({ tool, kind: 'other', args: { q: 1 } });

  test('exactly those that were called, of servers that are trusted no more', async () => {
    const calls = [used('mcp:gh/list_issues'), used('mcp:gh/get_issue')];
    const { text } = await learnIn(ws, times(3, calls), {
      ...ceilings(`mode: yolo\n${SERVERS}`),
      minRuns: 3,
    });
    const { rules = [], mcp } = valuesOf(text);
    expect(rules.map(({ tool }) => tool)).toEqual(['mcp:gh/get_issue', 'mcp:gh/list_issues']);
    expect(mcp).toEqual({ servers: { gh: { command: ['gh-mcp'] } } });
    const policy = await engine(ws.path(), text);
    const decide = async (tool: string) =>
      policy.decide({ tool, kind: 'other', paths: [], params: {} }) as Promise<{ decision: string }>;
    expect((await decide('mcp:gh/get_issue')).decision).toBe('allow');
    expect((await decide('mcp:gh/get_issues')).decision).toBe('deny');
    expect((await decide('mcp:gh/create_issue')).decision).toBe('deny');
  });

  test('a name that would be a pattern, and what was rare, are comments', async () => {
    const often = times(3, [used('mcp:gh/a*')]);
    const { text } = await learnIn(ws, [...often, [used('mcp:gh/rare')]], {
      ...ceilings(`mode: yolo\n${SERVERS}`),
      minRuns: 3,
    });
    expect(valuesOf(text).rules).toBeUndefined();
    expect(text).toContain('# - mcp:gh/rare');
    expect(text).toContain('its name would be a pattern');
  });
});

describe('hosts', () => {
  test('exactly the host, scheme and port that commands reached, in enough runs', async () => {
    const network = ceilings('mode: yolo\nnetwork: {allow: ["*.example.org", plain.example.com]}\n');
    const seen = (hosts: string[]) => ({ calls: [sh('git status')], hosts });
    const runs = [...times(3, seen(['a.example.org'])), seen(['rare.example.org'])];
    const { text } = await learnIn(ws, runs, { ...network, minRuns: 3 });
    expect(valuesOf(text)['network']).toEqual({ allow: ['plain.example.com', 'https://a.example.org:443'] });
  });

  test.each([
    ['another host', 'network: {allow: ["plain.example.com"]}', 'evil.example', ['plain.example.com']],
    ['a star in a transcript', 'network: {allow: ["*.example.org"]}', '*.evil.example', undefined],
    [
      'an address that only a star stands for',
      'network: {allow: ["*"], private: allow}',
      '169.254.169.254',
      undefined,
    ],
  ])('none that the ceiling refuses: %s', async (_, network, host, allow) => {
    const runs = times(3, { calls: [sh('git status')], hosts: [host] });
    const { text } = await learnIn(ws, runs, { ...ceilings(`mode: yolo\n${network}\n`), minRuns: 3 });
    expect((valuesOf(text)['network'] as { allow?: unknown }).allow).toEqual(allow);
  });

  test('a ceiling without any stays without any', async () => {
    const { text } = await learnIn(ws, [[sh('git status')]], ceilings('mode: yolo\nnetwork: {}\n'));
    expect(valuesOf(text)['network']).toEqual({});
  });
});

test.each([
  ['deny', 0],
  ['fail', 0],
  ['defer', 1],
])('what was approved is outside of a ceiling with on_ask: %s, if nobody could', async (onAsk, rules) => {
  ws.write('a', '');
  const calls = [wrote('a', { decision: 'ask', answer: 'proceed_once' })];
  const ceiling = ws.path('c.yaml');
  ws.write('c.yaml', `version: 1\nmode: manual\non_ask: ${onAsk}\n`);
  const { lessons } = await learnIn(ws, times(3, { calls }), { ceiling });
  expect(lessons?.rules.length).toBe(rules);
});
