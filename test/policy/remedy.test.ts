import { describe, expect, test } from '@jest/globals';
import { mkdirSync, symlinkSync } from 'node:fs';
import { enginesWithRemedies } from '../../src/policy/engines.js';
import { loadPolicies } from '../../src/policy/load.js';
import { idleTools } from '../../src/decisions/idle-tools.js';
import type { Remedy } from '../../src/protocol/decision.js';
import { useWorkspace } from '../helpers/workspace.js';
import { cleanEnv, runCli } from '../helpers/run-cli.js';

const workspace = useWorkspace();

async function remedyOf(policy: string, tool: string, args: object): Promise<Remedy | undefined> {
  workspace.write('../policy.yaml', policy);
  const documents = await loadPolicies({
    policies: [workspace.outside('policy.yaml')],
    mode: undefined,
    folder: workspace.path(),
  });
  const place = {
    workspace: workspace.path(),
    writeProtected: [],
    obeyed: [],
    home: undefined,
    untrusted: false,
  };
  const engines = enginesWithRemedies(documents, place);
  const { registry } = idleTools({ ruleSets: documents }, place);
  const found = registry.find(tool);
  const built = await found?.build(args);
  if (!found || !built?.ok) throw new Error(JSON.stringify(built));
  const { paths, params } = built.invocation;
  const answer = await engines.decide({ tool: found.name, kind: found.kind, paths, params });
  return 'outside' in answer ? undefined : answer.remedy;
}

/** Puts rules into a policy, and asks the program itself. */
async function check(policy: string, calls: readonly Call[]): Promise<unknown[]> {
  const file = workspace.write('../mended.yaml', policy);
  const { stdout, stderr } = await runCli(
    ['policy', 'check', '--policy', file, '-C', workspace.path(), '--calls', '-'],
    {
      env: cleanEnv(workspace.outside('home')),
      input: calls.map(([tool, args]) => `${JSON.stringify({ tool, args })}\n`).join(''),
    },
  );
  if (stderr) throw new Error(stderr);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).decision);
}

type Call = readonly [tool: string, args: object];

const PLAN = 'version: 1\nmode: plan\n';
const shell = (command: string) => ['run_shell_command', { command }] as const;
const write = (file_path: string) => ['write_file', { file_path, content: 'x' }] as const;

describe('the rules that would have allowed a call', () => {
  const cases: [string, Call, Call[]][] = [
    ['a command', shell('npm test'), [shell('npm run x'), shell('npm install'), shell('npm test x')]],
    ['words that are added', shell('ls | xargs grep -l x'), [shell('ls | xargs grep -l y')]],
    [
      'one with arguments',
      shell('npm test -- --ci src/a.ts'),
      [shell('npm test'), shell('npm test -- --watch'), shell('npm test -- --ci src/a.ts src/b.ts')],
    ],
    ['quoted words', shell(`'grep' "-rn" TODO src`), [shell('grep -rn FIXME src')]],
    ['a pipeline', shell('cat a.txt | sort -u && wc -l a.txt'), [shell('cat b.txt'), shell('sort a')]],
    ['half of a line', shell('true; id -u'), [shell('id -g')]],
    ['behind a wrapper', shell('timeout 5 npm test'), [shell('timeout 5 npm run x')]],
    ['a script', shell(`bash -c 'git status && id -u'`), [shell('git push'), shell('id -g')]],
    ['idle options', shell('git --no-pager log -3'), [shell('git log'), shell('git push')]],
    ['a redirection', shell('date -u > out.txt'), [write('other.txt'), shell('date')]],
    ['a file', write('src/a.ts'), [write('src/b.ts'), write('src/a.ts/b')]],
    ['a new folder', write('new/folder/a.ts'), [write('new/folder/b.ts')]],
    ['a hard name', write('app/[id]/{a,b}*(x)!.ts'), [write('app/i/a.ts'), write('app/[id]/{a,b}y(x)!.ts')]],
    ['a name with quotes', write('a"b\'c: #d.ts'), [write('a.ts')]],
    ['a name in another script', write('ошибка 😀.ts'), [write('a.ts')]],
    ['an edit', ['replace', { file_path: 'a.txt', old_string: 'a', new_string: 'b' }], [write('a.txt')]],
  ];
  test.each(cases)('%s: allow it, and nothing else', async (_, [tool, args], others) => {
    workspace.write('a.txt', 'a\n');
    const remedy = await remedyOf(PLAN, tool, args);
    if (!remedy || !('rules' in remedy)) throw new Error(`no rules: ${JSON.stringify(remedy)}`);
    const decisions = await check(PLAN + remedy.rules, [[tool, args], ...others]);
    expect(decisions).toEqual(['allow', ...others.map(() => 'deny')]);
  });

  test('are written plainly', async () => {
    const remedy = await remedyOf(PLAN, ...shell('npm test && date > "out file"'));
    expect(remedy).toEqual({
      rules: `rules:
  - id: allow-npm-test-8526a8
    tool: run_shell_command
    command: ["npm test", "date"]
    exact: true
    decision: allow
  - id: allow-out-file-34f267
    tool: write_file
    path: ["out file"]
    decision: allow
`,
    });
  });

  test('follow links', async () => {
    mkdirSync(workspace.path('real'));
    symlinkSync('real', workspace.path('link'));
    const remedy = await remedyOf(PLAN, ...write('link/a.ts'));
    expect(JSON.stringify(remedy)).toContain('real/a.ts');
  });
});

describe('there are none', () => {
  const deny = `${PLAN}rules:\n  - {id: no, tool: run_shell_command, command: [id], decision: deny, reason: No.}\n`;
  const ask = `version: 1\nmode: yolo\nrules:\n  - {id: maybe, tool: write_file, decision: ask}\n`;
  const cases: [string, string, Call, RegExp][] = [
    [
      'where a rule denies',
      deny,
      shell('id'),
      /^rule no \(.*policy\.yaml:4\) decides this: change it there$/,
    ],
    ['where a rule asks', ask, write('a.ts'), /^rule maybe .* change it there$/],
    ['for a secret', PLAN, write('.env'), /^no rule allows this$/],
    ['for what is protected', 'version: 1\nmode: yolo\n', write('.git/hooks/x'), /^no rule allows this$/],
    ['for a secret in a command', PLAN, shell('cat .env'), /^no rule allows this$/],
    ['for a redirection to a protected file', PLAN, shell('date > .git/config'), /^no rule allows this$/],
    ['for a host', PLAN, ['web_fetch', { prompt: 'see https://example.org/' }], /^no rule allows this$/],
    ['for what cannot be judged', PLAN, shell('"$(date)" x'), /^no rule allows this$/],
    ['for an interpreter alone', PLAN, shell('python3 <<< "print(1)"'), /^no rule can name just this call$/],
    ['for code in a word', PLAN, shell(`node -e 'process.exit(1)'`), /^no rule can name just this call$/],
    ['for a message', PLAN, shell('git commit -m "a b"'), /^no rule can name just this call$/],
    [
      'for a tool that is left out',
      `${PLAN}tools: {exclude: [glob]}\n`,
      ['glob', { pattern: '*' }],
      /^no rule allows this$/,
    ],
  ];
  test.each(cases)('%s', async (_, policy, [tool, args], none) => {
    expect(await remedyOf(policy, tool, args)).toEqual({ none: expect.stringMatching(none) });
  });
});
