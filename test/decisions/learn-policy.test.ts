import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { lint } from '../../src/policy/lint.js';
import { loadText } from '../../src/policy/load-text.js';
import { parseYaml } from '../../src/lib/yaml.js';
import { engine, shell, write } from '../helpers/policy.js';
import { sh, tellRun, wrote, type ToldCall } from '../helpers/evidence.js';
import type { Policy, PolicyAnswer } from '../../src/protocol/decision.js';
import { learnIn, times } from '../helpers/learn.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

interface WrittenRule {
  readonly id: string;
  readonly decision: string;
  readonly command?: readonly string[];
  readonly exact?: boolean;
  readonly path?: readonly string[];
  readonly tool: string;
  readonly reason: string;
}

function rulesIn(text: string): WrittenRule[] {
  const parsed = parseYaml(text);
  if (!parsed.ok) throw new Error(parsed.message);
  const rules = (parsed.value as { rules?: readonly WrittenRule[] }).rules ?? [];
  return rules.filter(({ decision }) => decision === 'allow');
}

const patterns = (text: string) => rulesIn(text).flatMap(({ command = [] }) => command);
const paths = (text: string) => rulesIn(text).flatMap(({ path = [] }) => path);

/** The patterns that a run with these lines teaches. */
async function learnt(...lines: string[]): Promise<string[]> {
  const calls = lines.map((line) => sh(line));
  return patterns((await learnIn(ws, [calls])).text);
}

describe('commands', () => {
  test.each([
    ['git log --oneline -5 src', ['git log']],
    ['cat a.txt b.txt', ['cat']],
    ['git --no-pager diff --stat', ['git diff']],
    ['npm test 2>&1 | tail -20', ['npm test', 'tail']],
    ['npm run lint -- --max-warnings 0', ['npm run lint -- --max-warnings 0']],
    ['make test V=1', ['make test V=1']],
    ['cargo test parser -- --nocapture', ['cargo test']],
    ['timeout 60 npm test', ['npm test']],
    ['CI=1 npm test', ['npm test']],
    ['npx prettier --check a.txt', ['npx prettier --check a.txt']],
    ['mytool --check a.txt', ['mytool --check a.txt']],
    ['sed -n 1,5p a.txt', ['sed -n']],
    ['cd src && ls', ['ls']],
    ['bash -c "git status"', ['git status']],
  ])('%s', async (line, expected) => {
    ws.write('package.json', '{"scripts":{"lint":"eslint .","test":"jest"}}');
    ws.write('src/a.ts', '');
    ws.write('Makefile', 'test:\n\ttrue\n');
    expect((await learnt(line)).toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    ['git log --output=x', '--output=x makes git log run or write something else'],
    ['git push origin main', 'the ceiling denies it'],
    ['git fetch', 'git fetch can change, send or run more than was seen'],
    ['git branch -D x', 'git branch can change'],
    ['node script.js', 'it runs whatever it is given'],
    ['python3 -c 1', 'it runs whatever it is given'],
    ['bash x.sh', 'a shell reads its commands from a file'],
    ['npm ci', 'it installs or changes packages'],
    ['npx cowsay', 'it may run a package from elsewhere'],
    ['pip install x', 'it installs or runs packages'],
    ['curl https://example.org', 'it reaches other machines'],
    ['socat a b', 'it reaches other machines'],
    ['redis-cli get x', 'it reaches other machines'],
    ['hg push', 'it can change, send or run more than was seen'],
    ['svn update', 'it can change, send or run more than was seen'],
    ['lerna publish', 'it takes something to other machines'],
    ['mytool deploy', 'it takes something to other machines'],
    ['rimraf out', 'it deletes, moves or overwrites'],
    ['xdg-open a.txt', 'it runs whatever it is given'],
    ['rm a.txt', 'it deletes, moves or overwrites'],
    ['cp a b', 'it deletes, moves or overwrites'],
    ['mytool', 'by its name alone it may do whatever its input says'],
    ['mytool -', 'it may do whatever its input says'],
    ['mytool --from=/dev/stdin', 'it may do whatever its input says'],
    ['guile a.scm', 'it runs whatever it is given'],
    ['./tool a', 'its program is behind a link'],
    ['mytool -e code', 'it runs code that it is given'],
    ['make', 'it names no target'],
    ['awk 1 a.txt', 'it runs whatever it is given'],
    ['cat /etc/hostname', 'no rule allows it'],
    ['cat ../x', 'no rule allows it'],
    ['GIT_PAGER=sh git log', 'no rule allows it'],
    ['true || npm test', 'not all of it is certain to have run'],
    ['exit 0; npm test', 'not all of it is certain to have run'],
    ['echo $(false || npm test)', 'not all of it is certain to have run'],
    ['if true; then npm test; fi', 'not all of it is certain to have run'],
    ['npm test &', 'not all of it is certain to have run'],
    ['sort -o x a.txt', '-o makes sort do more'],
    ['sed -i s/a/b/ a.txt', 'makes sed do more'],
    ['find . -exec sh {} ;', 'sh'],
    ['sh <<< ls', 'a shell reads its commands from a file or from stdin'],
  ])('%s is only a comment', async (line, why) => {
    symlinkSync('/bin/bash', ws.path('tool'));
    const { text, lessons } = await learnIn(ws, times(3, [sh(line)]));
    expect(patterns(text)).toEqual([]);
    expect(lessons?.unlearnt.map((one) => one.why).join()).toContain(why);
    expect(text).toMatch(/^# {3}3 × in 3 runs: /m);
  });

  test.each([
    ['mytool a', 'mytool a --exec=x'],
    ['touch a', 'touch a package.json'],
    ['npm test', 'npm test -- --config=evil.js'],
    ['npm run lint', 'npm run lint -- --fix'],
    ['make test', 'make test SHELL=./x'],
    ['npx prettier --check a.txt', 'npx prettier --check a.txt --write'],
    ['pytest a.py', 'pytest b.py'],
    ['tsc --noEmit', 'tsc'],
    ['mypy a.py', 'mypy --config-file=evil.ini a.py'],
    ['flake8 a.py', 'flake8 --config=evil.cfg a.py'],
    ['ruff check a.py', 'ruff check a.py --fix'],
    ['cargo fmt --check', 'cargo fmt'],
    ['git branch --list', 'git branch --list -D main'],
    ['./check.sh', './check.sh --all'],
    ['mkdir -p out', 'mkdir -p out src'],
  ])('%s is all that it teaches: %s stays refused', async (line, wider) => {
    ws.write('check.sh', '');
    ws.write('Makefile', 'test:\n\ttrue\n');
    ws.write('package.json', '{"scripts":{"lint":"eslint .","test":"jest"}}');
    const { text } = await learnIn(ws, times(3, [sh(line)]));
    expect(rulesIn(text)).toMatchObject([{ command: [line], exact: true }]);
    expect(text).toContain(`${JSON.stringify(`${line} x`)}`);
    const policy = await engine(ws.path(), text);
    expect((await shell(policy, line)).decision).toBe('allow');
    expect((await shell(policy, wider)).decision).toBe('deny');
  });

  test('what failed, was refused or had a secret in it teaches nothing', async () => {
    const calls = [
      sh('npm test', { exit: 1 }),
      sh('npm run a', { decision: 'deny' }),
      sh('npm run b', { decision: 'ask', answer: 'cancel' }),
      sh('npm run c [redacted:token]'),
      sh('git status'),
    ];
    const { text } = await learnIn(ws, times(3, calls));
    expect(patterns(text)).toEqual(['git status']);
    expect(text).toContain('3 failed, 6 were denied, 3 had redacted arguments');
  });
});

describe('scripts of a run that changed what they run', () => {
  const scripts = '{"scripts":{"x":"node scripts/x.js","lint":"eslint ."}}';
  const runs = (...calls: ToldCall[]) => times(3, { calls, changes: [] as string[] });
  async function afterwards(changes: readonly string[], ...calls: ToldCall[]) {
    ws.write('package.json', scripts);
    ws.write('scripts/x.js', "import './lib/helper.js'");
    ws.write('scripts/lib/helper.js', '');
    return patterns((await learnIn(ws, [{ calls, changes }])).text);
  }

  test('the script itself', async () => {
    expect(await afterwards(['package.json'], sh('npm run x'))).toEqual([]);
    expect(await afterwards([], wrote('package.json'), sh('npm run x'))).toEqual([]);
  });

  test('a file that it names, or that such a file names', async () => {
    expect(await afterwards(['scripts/x.js'], sh('npm run x'))).toEqual([]);
    expect(await afterwards([], sh('echo 1 > scripts/lib/helper.js'), sh('npm run x'))).toEqual(['echo']);
    expect(await afterwards(['src/a.ts'], sh('npm run x'))).toEqual(['npm run x']);
  });

  test.each([
    'npm pkg set scripts.x=evil',
    'npm version 2.0.0',
    'npm install evil',
    'git checkout evil -- package.json',
    'git stash pop',
    'git apply p.patch',
    'timeout 5 patch -p1',
    'mv e.json package.json',
    'cd scripts && tee x.js',
  ])('taken back in the end: %s', async (line) => {
    expect(await afterwards([], sh(line), sh('npm run x'))).not.toContain('npm run x');
    expect(await afterwards([], sh('npm run x'), sh(line, { exit: 1 }))).not.toContain('npm run x');
    expect(await afterwards([], sh('npm install'), sh('git stash list'), sh('npm run x'))).toContain(
      'npm run x',
    );
  });

  test('nobody knows what it changed', async () => {
    ws.write('package.json', scripts);
    const calls = [sh('node scripts/x.js'), sh('npm run lint')];
    const unknown = times(3, { calls, changes: undefined as never });
    expect(patterns((await learnIn(ws, unknown)).text)).toEqual([]);
    expect(patterns((await learnIn(ws, runs(...calls))).text)).toEqual(['npm run lint']);
    // No list of changes shows what git ignores.
    expect(patterns((await learnIn(ws, runs(sh('node -e 1'), sh('npm run lint')))).text)).toEqual([]);
  });
});

describe('paths', () => {
  const files = (...names: string[]) => names.map((name) => wrote(name));

  test('exact, a folder from three files in two runs, a tree from three depths', async () => {
    const few = await learnIn(ws, [files('src/a', 'src/b'), files('src/a')]);
    expect(paths(few.text)).toEqual(['src/a', 'src/b']);
    const oneRun = await learnIn(ws, [files('src/a', 'src/b', 'src/c')]);
    expect(paths(oneRun.text)).toEqual(['src/a', 'src/b', 'src/c']);
    const folder = await learnIn(ws, [files('src/a', 'src/b'), files('src/c', 'docs/x')]);
    expect(paths(folder.text)).toEqual(['docs/x', 'src/*']);
    const tree = await learnIn(ws, [files('src/a', 'src/b/c'), files('src/b/d/e')]);
    expect(paths(tree.text)).toEqual(['src/**']);
  });

  test('never the workspace, a hidden folder, or a name with characters of a pattern', async () => {
    const root = await learnIn(ws, [files('a', 'b', 'x/c'), files('d', 'x/y/e')]);
    expect(paths(root.text)).toEqual(['a', 'b', 'd', 'x/c', 'x/y/e']);
    const hidden = await learnIn(ws, [files('.cfg/a', '.cfg/b'), files('.cfg/c')]);
    expect(paths(hidden.text)).toEqual(['.cfg/a', '.cfg/b', '.cfg/c']);
    const odd = await learnIn(ws, [files('src/[id].ts', 'src/*')]);
    expect(paths(odd.text)).toEqual([]);
    expect(odd.text).toContain('# - src/[id].ts');
    const installed = await learnIn(ws, [files('node_modules/.bin/jest', 'x/node_modules/y/index.js')]);
    expect(paths(installed.text)).toEqual([]);
    expect(installed.text).toContain('other commands run what is installed there');
  });

  test('not through a link', async () => {
    mkdirSync(ws.path('src'));
    symlinkSync('src', ws.path('link'));
    const { text } = await learnIn(ws, [files('link/a')]);
    expect(paths(text)).toEqual([]);
    expect(text).toContain('it leads through a link');
  });

  test('what is only replaced may not be written from scratch', async () => {
    const replaced = {
      tool: 'replace',
      kind: 'edit',
      args: { file_path: 'a', old_string: 'x', new_string: 'y' },
    } as const;
    const [rule] = rulesIn((await learnIn(ws, [[replaced]])).text);
    expect(rule).toMatchObject({ tool: 'replace', path: ['a'] });
  });
});

describe('which runs count', () => {
  test('verified, ended with 0, without untrusted input, no dry run', async () => {
    const calls = [sh('git status')];
    const good = times(2, { calls });
    const runs = [...good, { calls, exit: 3 }, { calls, untrusted: true }, { calls, dryRun: true }];
    const answer = await learnIn(ws, runs);
    expect(answer).toMatchObject({ runs: 2 });
    expect(answer.leftOut.map(({ why }) => why)).toEqual([
      'it ended with 3',
      'it had untrusted input',
      'it was a dry run',
    ]);
    await expect(learnIn(ws, [{ calls, exit: 1 }])).rejects.toMatchObject({
      status: 'config_error',
      message: expect.stringContaining('there is no run to learn from'),
    });
  });

  test('what fewer runs show than wanted is a comment, and so is what only stands beside it', async () => {
    const often = times(3, [sh('git status')]);
    const { text } = await learnIn(ws, [...often, [sh('git diff | head -5')]], { minRuns: 3 });
    expect(patterns(text)).toEqual(['git status']);
    expect(text).toContain('seen in fewer than 3 runs');
  });

  test('a copy of a run is the same run', async () => {
    const path = tellRun(ws.outside('.'), { cwd: ws.path(), changes: [], calls: [sh('git status')] });
    const copy = ws.outside('copy.jsonl');
    copyFileSync(path, copy);
    expect(await learnIn(ws, [], { transcripts: [path, copy, path] })).toMatchObject({ runs: 1 });
  });
});

describe('the ceiling', () => {
  const under = (rules: string, mode = 'plan') => {
    writeFileSync(ws.outside('ceiling.yaml'), `version: 1\nmode: ${mode}\nrules:\n${rules}`);
    return { ceiling: './ceiling.yaml' };
  };

  test('nothing is learnt beyond it, and nothing is left open that it does not leave open', async () => {
    const narrow = under(
      '  - {id: a, tool: run_shell_command, command: [git log --oneline], decision: allow}\n' +
        '  - {id: b, tool: write_file, path: ["src/a*"], decision: allow}\n',
    );
    const calls = [sh('git log --oneline -5'), sh('git status')];
    const files = ['src/a1', 'src/a2', 'src/a3'].map((name) => wrote(name));
    const { text } = await learnIn(ws, times(2, [...calls, ...files]), narrow);
    expect(patterns(text)).toEqual(['git log --oneline -5']);
    expect(paths(text)).toEqual(['src/a1', 'src/a2', 'src/a3']);
    expect(text).toContain('the ceiling denies it');
  });

  test('what it denies stays denied, and its boundary holds', async () => {
    writeFileSync(
      ws.outside('ceiling.yaml'),
      `version: 1
mode: yolo
workspace: {read_deny: ["secret/**"], write_deny: ["gen/**"]}
network: {allow: ["*.example.org", api.example.com]}
tools: {exclude: [google_web_search]}
rules:
  - {id: no-tags, tool: run_shell_command, command: git log --tags, decision: deny, reason: no}
  - {id: asked, tool: write_file, path: ["docs/**"], decision: ask}
`,
    );
    const fetched = {
      tool: 'web_fetch',
      kind: 'fetch',
      args: { prompt: 'see https://a.example.org/x' },
    } as const;
    const { text } = await learnIn(ws, [[sh('git log'), wrote('docs/a'), fetched]], {
      ceiling: './ceiling.yaml',
    });
    const policy = await engine(ws.path(), text);
    expect((await shell(policy, 'git log --tags')).decision).toBe('deny');
    expect((await shell(policy, 'git log')).decision).toBe('allow');
    expect(await write(policy, 'docs/a')).toMatchObject({ decision: 'ask' });
    expect(text).toContain('the ceiling asks about it');
    expect(parseYaml(text)).toMatchObject({
      value: {
        mode: 'plan',
        on_ask: 'deny',
        shell: { read_scope: 'workspace' },
        workspace: { read_deny: ['secret/**'], write_deny: ['gen/**'] },
        network: { allow: ['api.example.com', 'https://a.example.org'] },
      },
    });
  });

  test('what somebody was asked about and said yes to is inside', async () => {
    writeFileSync(ws.outside('ceiling.yaml'), 'version: 1\nmode: manual\non_ask: defer\n');
    const asked = sh('npm test', { decision: 'ask', answer: 'proceed_once' });
    const { text } = await learnIn(ws, [[asked, sh('git status')]], { ceiling: './ceiling.yaml' });
    expect(patterns(text)).toEqual(['npm test']);
  });
});

describe('the policy that is written', () => {
  const calls = [
    sh('git log -5 | head -2'),
    sh('npm test'),
    sh('mytool a'),
    wrote('src/a'),
    sh('ls > out.txt'),
  ];

  test('loads without warnings, and every rule is needed', async () => {
    ws.write('package.json', '{}');
    const { text, lessons } = await learnIn(ws, times(3, calls));
    const document = await loadText(ws.outside('x.yaml'), text);
    expect(lint(document)).toEqual([]);
    expect(lessons?.calls).toHaveLength(15);
    const decided = async (policy: Policy) =>
      Promise.all(
        calls.map(async ({ tool, args }) =>
          tool === 'write_file'
            ? await write(policy, String(args['file_path']))
            : await shell(policy, String(args['command'])),
        ),
      );
    const isRefused = (one: PolicyAnswer) => !('decision' in one && one.decision === 'allow');
    expect((await decided(await engine(ws.path(), text))).some(isRefused)).toBe(false);
    const single = (part: RegExp) => text.match(part) ?? [];
    const rules = single(/ {2}- id: .*\n(?: {4}.*\n)+/g).filter((rule) => rule.includes('seen'));
    // Without a word about examples, a rule may lose a pattern and still load.
    const entries = single(/ {6}- .* # \d+ × in .*\n/g);
    expect([rules.length, entries.length]).toEqual([5, 7]);
    for (const part of [...rules, ...entries]) {
      const without = text
        .replace(part, '')
        .replaceAll(/ {4}(?:not_)?match:.*\n(?: {6}- .*\n)*/g, '')
        .replace(/ {2}- id: .*\n.*\n {4}(?:command|path):\n(?! {6}-)(?: {4}.*\n)+/, '');
      expect((await decided(await engine(ws.path(), without))).some(isRefused)).toBe(true);
    }
  });

  test('runs under it teach the same policy', async () => {
    const { text } = await learnIn(ws, times(3, calls));
    writeFileSync(ws.outside('first.yaml'), text);
    const again = await learnIn(ws, times(3, calls), { ceiling: './first.yaml' });
    const bare = (policy: string) => policy.replaceAll(/^#.*\n/gm, '');
    expect(bare(again.text)).toBe(bare(text));
  });

  test('nothing that was recorded gets out of its comment or its quotes', async () => {
    const nasty = 'cat "a\nmode: yolo\n  - id: x" \u2028# \'';
    const { text } = await learnIn(ws, [[sh(nasty), sh('rm "x\nmode: yolo"'), wrote('a\nb: c')]]);
    const parsed = parseYaml(text);
    expect(parsed).toMatchObject({ ok: true, value: { mode: 'plan' } });
    expect(text).not.toMatch(/^mode: yolo/m);
  });
});

test('one odd line does not keep the others from being learnt', async () => {
  const calls = ['null a', '1e3 a', '/usr/bin/env true', 'git status'].map((line) => sh(line));
  expect(patterns((await learnIn(ws, times(3, calls))).text)).toContain('git status');
});

describe('from denials', () => {
  test('the smallest rules stand as comments, with what they would open', async () => {
    const refused = sh('npm run deploy', { decision: 'deny' });
    const { text } = await learnIn(ws, [{ calls: [refused, refused], exit: 3 }], {
      ceiling: 'read-only',
      fromDenials: true,
    });
    expect(text).toContain('# 2 × in 1 run: npm run deploy');
    expect(text).toContain('would open: exactly `npm run deploy`');
    expect(text).toMatch(/^# +command: \["npm run deploy"\]$/m);
    expect(rulesIn(text)).toEqual([]);
  });

  test('what the ceiling allows is proposed as well, and what it refuses is called that', async () => {
    const lines = ['npm run deploy', 'git push', 'ls || true'];
    const calls = lines.map((line) => sh(line, { decision: 'deny' }));
    const runs = [{ calls: [...calls, wrote('src/a', { decision: 'deny' })], exit: 3 }];
    const { text } = await learnIn(ws, runs, { fromDenials: true });
    expect(text).toMatch(/^# +command: \["npm run deploy"\]$/m);
    expect(text).toMatch(/^# +path: \["src\/a"\]$/m);
    const [inside = '', beyond = ''] = text.split('beyond the ceiling, which refuses it, too');
    expect(inside.trimEnd().split('\n').at(-2)).toContain('git push');
    expect(beyond.split('\n')[1]).toContain('no rule: rule no-publishing');
    expect(text.match(/beyond the ceiling/g)).toHaveLength(1);
  });

  test('if no rule helps, what denies it is said', async () => {
    const fetched: ToldCall = {
      tool: 'web_fetch',
      kind: 'fetch',
      args: { prompt: 'http://www.example.org/' },
      decision: 'deny',
    };
    const calls = [fetched, wrote('.github/workflows/x.yml', { decision: 'deny' })];
    const { text } = await learnIn(ws, [{ calls, exit: 3 }], { fromDenials: true });
    expect(text).toContain('no rule: no rule allows this: the policy allows no host (network.allow)');
    expect(text).toContain(
      'no rule: no rule allows this: .github/workflows/x.yml is protected and never written',
    );
  });
});

describe('merging', () => {
  const merge = async (policy: string, ...lines: string[]) => {
    writeFileSync(ws.outside('mine.yaml'), policy);
    return learnIn(ws, [lines.map((line) => sh(line))], { merge: './mine.yaml' });
  };

  test('comments and order stay, and only what is missing is added', async () => {
    const mine = `# Ours.
version: 1
shell: {read_scope: workspace} # keep
rules:
    # looking
    - {id: git, tool: run_shell_command, command: git status, decision: allow} # why

# the end
limits: {turns: 5}
`;
    const { text, diff } = await merge(mine, 'git status', 'git diff src');
    const added = (diff ?? '').split('\n').filter((line) => /^[+-](?![+-])/.test(line));
    expect(added.every((line) => line.startsWith('+'))).toBe(true);
    expect(diff).toContain('+        - git diff # 1 × in 1 run');
    for (const line of mine.split('\n')) expect(text).toContain(line);
    const policy = await engine(ws.path(), text);
    expect((await shell(policy, 'git diff')).decision).toBe('allow');
    expect((await merge(text, 'git status', 'git diff src')).diff).toBe('');
  });

  test('of a line that is allowed in part, only the rest is added', async () => {
    const mine = `version: 1
shell: {read_scope: workspace}
rules:
  - {id: git, tool: run_shell_command, command: git log, decision: allow}
`;
    const { lessons } = await merge(mine, 'git log -5 | head -2 > out.txt');
    expect(lessons?.rules.flatMap(({ entries }) => entries.map(({ text }) => text))).toEqual([
      'head',
      'out.txt',
    ]);
  });

  test('without rules, or with rules in brackets', async () => {
    const bare = await merge('version: 1\nmode: auto_edit\n', 'git status');
    expect(patterns(bare.text)).toEqual(['git status']);
    const flow = await merge(
      'version: 1\nrules: [{id: a, tool: run_shell_command, command: ls, decision: allow}] # x\n',
      'git status',
    );
    expect(rulesIn(flow.text)).toHaveLength(2);
    expect(flow.text).toContain('# x');
  });

  test('nothing is left open where the policy does not keep operands in the workspace', async () => {
    const { text } = await merge('version: 1\nmode: auto_edit\n', 'cat a.txt');
    expect(patterns(text)).toEqual(['cat a.txt']);
  });
});
