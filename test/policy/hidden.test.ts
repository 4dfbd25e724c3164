import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stagedEngine, stageHidden } from '../helpers/hidden-stage.js';
import { engine, PRESETS, shell } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

async function decisionsOf(lines: readonly string[], wishes = {}) {
  const policy = await stagedEngine(ws, wishes);
  const decided: [string, string][] = [];
  for (const line of lines) decided.push([line, (await shell(policy, line)).decision]);
  return decided;
}

async function expectAll(decision: string, lines: readonly string[], wishes = {}) {
  expect(await decisionsOf(lines, wishes)).toEqual(lines.map((line) => [line, decision]));
}

describe('without a sandbox, no command reads a hidden file by a word that becomes known when it runs:', () => {
  const table: Record<string, readonly string[]> = {
    'what a variable may be': [
      'x=.env; cat $x',
      'x=.e; y=nv; cat $x$y',
      'x=.e; x+=nv; cat $x',
      'cat .e${q}nv',
      'cat ${q:-.env}',
      'x=id; cat $HOME/.ssh/${x}_rsa',
      "x='.ssh/id_rsa'; cat ~/$x",
      'x=~/.ssh/id_rsa; cat $x',
      'x=src/..; cat $x/.env',
      "x='a .env'; cat $x",
      'x=.env; head -n 1 "$x"',
      'x=.env; env cat $x',
      'x=.env; timeout 5 cat $x',
      'x=notes; cat private/$x.txt',
      'x=/etc/shadow; cat $x',
      'x=environ; cat /proc/self/$x',
    ],
    'what is made of a variable': [
      'x=aa.env; cat ${x#aa}',
      'x=.envx; cat ${x%x}',
      'x=a.env; cat ${x:1}',
      'x=.enw; cat ${x/w/v}',
      'x=.ENV; cat ${x,,}',
      'for f in $(ls); do cat ${f#a}; done',
      'x=README.md; cat ${x##*/}',
    ],
    'variables of a script inside': [
      "bash -c 'x=.env; cat $x'",
      "x=.env; bash -c 'cat $x'",
      "x=.env bash -c 'cat $x'",
      "env x=.env bash -c 'cat $x'",
      "bash -c 'cat $1' _ .env",
    ],
    'loops, lists, functions': [
      'for f in .env; do cat "$f"; done',
      'for f in .e*; do cat "$f"; done',
      'for f in * .*; do cat "$f"; done',
      'for x in "a .env"; do cat $x; done',
      'x=(a .env); cat "${x[@]}"',
      'x=(a); x+=(.env); cat ${x[1]}',
      'y=([0]=.env); cat ${y[0]}',
      'f() { cat "$1"; }; f .env',
      'f() { g "$1"; }; g() { cat $1; }; f .env',
      'echo .env | while read -r f; do cat "$f"; done',
      'while read -r f; do cat "$f"; done < names.txt',
      "read f <<< '.e\\nv'; cat $f",
      'read -n 4 f <<< .envx; cat $f',
      'IFS=x read -r a b <<< .envxa; cat $a',
    ],
    'what read and mapfile cut off': [
      'read -r -n 16 f <<< certs/server.keyX; cat $f',
      'read -r -N 16 f <<< certs/server.keyX; cat $f',
      'read -r -d X f <<< certs/server.keyX; cat $f',
      'read -rdX f <<< certs/server.keyX; cat $f',
      'mapfile -t -d X f <<< certs/server.keyX; cat $f',
      'find src -name \'*.js\' | while read -r -n 4 f; do cat "$f"; done',
      'read -r a b <<< "x y z"; cat "$b"',
      'read -r -u 3 f 3<<< .env; cat "$f"',
    ],
    'variables that are numbers in some shells, as long as nobody sets them': [
      'LINES=.env; cat $LINES',
      'for COLUMNS in .env; do cat $COLUMNS; done',
      'UID=.env; cat $UID',
      'SHLVL=.env; cat $SHLVL',
      'cat .e${COLUMNS}nv',
      'cat .e${RANDOM}nv',
      'cat .e$!nv',
    ],
    'what decides where values are split': [
      'for IFS in :; do f=a:.env; cat $f; done',
      'export IFS=:; f=a:.env; cat $f',
    ],
    'commands that may print nothing': [
      'cat .e$(seq 2 1)nv',
      'cat .e$(echo x > out/y)nv',
      'cat .e$({ echo x; } > out/y)nv',
      'cat .e$(date +%F > /dev/null)nv',
      'cat .e$(wc -l < missing)nv',
      'cat .e$(git merge-base nope nope)nv',
      'cat .e$(git rev-parse --short nope)nv',
      'cat $(date +T)',
    ],
    'what the shell itself remembers': [
      'echo .env; cat $_',
      'cat $BASH_EXECUTION_STRING # .env',
      '[[ .env =~ .* ]]; cat $BASH_REMATCH',
    ],
    'what another command prints': [
      'cat `echo .env`',
      'cat "$(printf \'%s\\n\' .env)"',
      "cat $(printf '%s' .e; printf nv)",
      'cat $(find . -name ".e*")',
      "cat $(find . -name '*.js' -o -name '*nv')",
      'cat $(ls -A)',
      'cat $(ls .e?v)',
      'cat $(cat names.txt)',
      'cat "$(head -1 names.txt)"',
      'cat $(git ls-files -o)',
      'cat $(git diff --name-only HEAD~1)',
      'cat $(basename sub/.env.js .js)',
      'cat $(dirname .env/x)',
      'cat $(grep -oe.env names.txt)',
      "cat $(git rev-parse '.e*')",
      'cat $(head 5)',
      'cat $(false && echo a).env',
    ],
    'what comes out of a pipe': [
      'echo .env | xargs grep ""',
      'printf \'%s\\n\' \'.e"n"v\' | xargs grep ""',
      'find . | head -3 | xargs grep ""',
      'find . -type f -print0 | xargs -0 grep ""',
      'find . -type f -exec cat {} +',
      'find . -name "$x" -exec cat {} +',
      'echo e | xargs -I{} cat .{}nv',
      'xargs grep "" < names.txt',
      'ls -a | xargs grep ""',
    ],
    'whole folders': [
      'grep -r "" .',
      'grep -rn foo',
      'grep -d recurse "" .',
      'grep -r "" {.,src}',
      'grep -r "" $PWD',
      'x=-r; grep $x "" .',
      'grep "$(cat names.txt)" .',
      'grep -r "" . --exclude=.env --include="*"',
      'rg --hidden foo',
      'rg -uu foo',
      "rg -g '*' ''",
      "rg -g '.e*' ''",
      'rg foo',
      'grep -r --context 2 foo',
      'grep -r --cont 2 foo',
      'grep -r -D skip foo',
      'grep -rf names.txt',
      'grep -r -drecurse foo',
      'rg --hidden --max-depth 1 foo',
      'rg --hidden --sort path foo',
      "rg --type-add 'e:.env' -te foo",
      "rg -ng '*' foo",
      'cp -r . out/x',
      'diff -rN . src',
      'tar cf - .',
      'git grep --untracked foo',
      'git add -f .',
      'git diff . src',
      'mv private/.. x',
    ],
    'options and messages': [
      'grep --file="$(head -1 names.txt)" README.md',
      'diff --from-file="$(head -1 names.txt)" README.md',
      'git blame --contents="$(head -1 names.txt)" README.md',
      'git commit --allow-empty -F "./$(head -1 names.txt)"',
      'wc "$(cat names.txt)"',
      'x=--files0-from=.env; wc $x',
      'git blame -S "./$(head -1 names.txt)" README.md',
      'git blame --conte "./$(head -1 names.txt)" README.md',
      'git blame --ignore-revs-file "./$(head -1 names.txt)" README.md',
      'git grep --untrac foo',
      'git grep --u foo',
    ],
    'the value of an option, or a file behind it': [
      'grep -fe "$(head -1 names.txt)"',
      'grep -fm ./$(head -1 names.txt)',
      'grep --binary K ./$(head -1 names.txt)',
      'diff -LU "./$(head -1 names.txt)" README.md',
      'column -t -N s -Rs ./$(head -1 names.txt)',
      'xxd -ng ./$(head -1 names.txt)',
      'head -n$(head -1 names.txt)',
      'head --lines=$(head -1 names.txt)',
      'cut -c$(head -1 names.txt)',
      'ag -r K ./$(head -1 names.txt)',
      'ack --color K ./$(head -1 names.txt)',
      'ack --match K',
      'file -m.env README.md',
      'file -bm.env README.md',
      'git blame -S.env README.md',
    ],
    'names of files in files': [
      'wc --files0-from ./$(head -1 names.txt)',
      'du --files0 ./$(head -1 names.txt)',
      'file -m "./$(head -1 names.txt)" README.md',
      'tree --fromfile "./$(head -1 names.txt)"',
      'md5sum --check "./$(head -1 names.txt)"',
    ],
    'what divides and joins': [
      'xargs -dX grep "" <<< aX.envX',
      'xargs -d X grep "" <<< aX.envX',
      'xargs --delim=X grep "" <<< aX.envX',
      "cat $(seq -s ' .env ' 1 2)",
      "seq -f './%g' -s ' .env ' 1 2 | xargs grep ''",
    ],
  };
  test.each(Object.entries(table))('%s', async (_, lines) => {
    stageHidden(ws);
    await expectAll('deny', lines);
    await expectAll('deny', lines, { scope: 'workspace' });
  });
});

test('with the sandbox, and under yolo, none of that is refused', async () => {
  stageHidden(ws);
  const lines = ['x=.env; cat $x', 'grep -r "" .', 'cat $(find . -name ".e*")', 'echo .env | xargs grep ""'];
  await expectAll('allow', lines, { sandboxed: true });
  await expectAll('allow', lines, { mode: 'yolo' });
});

describe('everyday lines stay allowed beside hidden files:', () => {
  const table: Record<string, readonly string[]> = {
    variables: [
      'f=src/a.js; cat $f',
      'd=src; f=a.js; cat "$d/$f"',
      'files="src/a.js test/a.test.js"; cat $files',
      'files=(src/a.js README.md); cat "${files[@]}"',
      'if [ -f README.md ]; then f=README.md; else f=docs/guide.md; fi; cat "$f"',
      'n=5; head -n $n README.md',
      'for i in 1 2 3; do head -n "$i" README.md; done',
      'pattern=foo; grep -rn "$pattern" src',
      'cat "$PWD/README.md"',
      'grep -n foo "$FOO"',
      'head -n"$n" README.md',
      'grep --include="*.$ext" -rn foo src',
      'git commit -m "$msg" src/a.js',
    ],
    patterns: [
      'for f in src/*.ts; do wc -l "$f"; done',
      'for f in src/*.js; do cat $f; done',
      'for f in src/*.js; do cat "${f%.js}.test.js"; done',
      'cat src/{a,b}.js',
      'bash -c \'for f in src/*.js; do head -1 "$f"; done\'',
    ],
    listings: [
      "cat $(git ls-files '*.js' | head -3)",
      'cat $(git ls-files)',
      'for f in $(git diff --name-only); do echo "== $f"; head -n 3 "$f"; done',
      'git diff --name-only | xargs grep -l foo',
      "find . -name '*.js' | xargs grep -l foo",
      "find . -name '*.js' -print0 | xargs -0 grep -n foo",
      "find . -path ./node_modules -prune -o -name '*.js' -print | xargs grep foo",
      "find . -type f -not -name '.env*' -name '*.md' | xargs grep foo",
      'cat "$(find src -name \'*.js\' | head -1)"',
      'for f in $(find . -name guide.md); do head -1 "./$f"; done',
      'cat "$(ls src/*.js | head -1)"',
      'cat "out/$(ls out | tail -1)"',
      'ls src | xargs grep foo',
      'cd src && cat $(ls *.js)',
      'git grep -l foo | xargs grep -n foo',
      'rg -l foo src | xargs grep -n foo',
      'wc -l $(git ls-files)',
      "git ls-files '*.js' | xargs -d '\\n' grep foo",
      "git ls-files '*.js' | xargs '-d\\n' grep foo",
      'for f in $(git ls-files); do wc -l "./$f"; done',
    ],
    options: [
      'grep -rnA 2 "$pattern" src',
      'grep -inm "$n" foo README.md',
      'git log -S.env --oneline',
      'git diff -S.env src',
      'head -qn "$n" README.md',
    ],
    folders: [
      'grep -rn foo src test docs',
      "grep -rn foo --include='*.js' .",
      "grep -rn foo . --exclude='.env*' --exclude='*.key' --exclude-dir=private --exclude-dir=.config",
      'rg foo src',
      "rg -g '*.js' foo",
      'rg --files | head',
      'cp -r docs out/docs',
      'diff -rq src test',
      'git add src',
      'git grep foo',
    ],
    numbers: [
      'cat out/$RANDOM.txt',
      'cat out/$!.txt',
      'cat out/$(date +%F_%T).txt',
      'cat out/$(git rev-parse --short HEAD).txt',
    ],
    others: ['cat <(ls src)', 'echo "$(cat README.md)"', 'ls "$x"', '[ -f "$x" ] && echo there'],
  };
  test.each(Object.entries(table))('%s', async (_, lines) => {
    stageHidden(ws);
    await expectAll('allow', lines);
    await expectAll(
      'allow',
      lines.filter((line) => !line.includes('.test.js"')),
      { scope: 'workspace' },
    );
  });
});

test('loops over lines and calls of functions are asked about as before, not refused', async () => {
  stageHidden(ws);
  await expectAll('ask', [
    'git ls-files \'*.js\' | while read -r f; do cat "$f"; done',
    'find src -name \'*.js\' | while read -r f; do head -2 "$f"; done',
    'while read -r f; do cat "$f"; done < <(git ls-files)',
    'peek() { head -n 5 "$1"; }; peek src/a.js',
  ]);
});

describe('names that would be misread', () => {
  const list = "cat $(find src -name '*.js')";

  test('a blank in a name makes two words of it', async () => {
    stageHidden(ws);
    await expectAll('allow', [list, 'for f in src/*.js; do cat $f; done']);
    ws.write('src/a .env .js', '');
    await expectAll('deny', [list, "find src -name '*.js' | xargs grep foo", 'cat $(ls src)']);
    await expectAll('allow', [
      'for f in src/*.js; do cat "$f"; done',
      "find src -name '*.js' -print0 | xargs -0 grep foo",
    ]);
    ws.write('.x.js .env', '');
    await expectAll('deny', ['for f in .x*; do cat $f; done']);
  });

  test('a quote in a name is taken out of it', async () => {
    stageHidden(ws);
    ws.write('docs/".env".md', '');
    await expectAll('deny', ["find docs -name '*.md' | xargs grep foo"]);
  });

  test('a dash in front makes an option of it', async () => {
    stageHidden(ws);
    await expectAll('allow', ['grep foo *.md']);
    ws.write('-r.md', '');
    await expectAll('deny', ['grep foo *.md', 'ls | xargs grep foo']);
  });

  test('a file that the line itself makes is not seen', async () => {
    stageHidden(ws);
    await expectAll('deny', [
      `touch 'src/x .env .js'; ${list}`,
      `mkdir "$x"; ${list}`,
      `git add src; ${list}`,
    ]);
    await expectAll('deny', ["touch 'src/x .env .js'; bash -c 'cat $(ls src)'"]);
    await expectAll('allow', [`touch src/x.js; ${list}`]);
  });

  test('a link leads where it leads', async () => {
    stageHidden(ws);
    symlinkSync('../.env', ws.path('src/link.js'));
    await expectAll('deny', [
      list,
      'cat $(find src -type l)',
      'for f in src/*.js; do cat "$f"; done',
      'grep -R foo src',
    ]);
    await expectAll('allow', ['grep -rn foo src']);
    await expectAll('deny', ['cp -r src out/x', 'mv src out/x']);
  });
});

describe('what is no secret', () => {
  test('certificates and examples that are tracked, as in the sandbox', async () => {
    stageHidden(ws);
    ws.write('test/tls.key', '');
    ws.write('test/.env.example', '');
    await expectAll('deny', ['grep -rn foo test']);
    execFileSync('git', ['add', '-f', 'test'], { cwd: ws.path() });
    await expectAll('allow', ['grep -rn foo test', 'cat $(git ls-files test)']);
    ws.write('test/.env', '');
    execFileSync('git', ['add', '-f', 'test'], { cwd: ws.path() });
    await expectAll('deny', ['grep -rn foo test', 'cat $(git ls-files test)']);
  });

  test("git's settings, unless they give access to something", async () => {
    ws.write('a.js', '');
    execFileSync('git', ['init', '-q'], { cwd: ws.path() });
    const policy = await engine(
      ws.path(),
      'version: 1\nmode: manual\nrules: [{id: g, tool: run_shell_command, command: [grep], decision: allow}]\n',
    );
    expect(await shell(policy, 'grep -rn foo .')).toMatchObject({ decision: 'allow' });
    const header = ['http.https://github.com/.extraheader', 'AUTHORIZATION: basic eA=='];
    execFileSync('git', ['config', ...header], { cwd: ws.path() });
    expect(await shell(policy, 'grep -rn foo .')).toMatchObject({ decision: 'deny' });
    expect(await shell(policy, 'grep -rn foo . --exclude-dir=.git')).toMatchObject({ decision: 'allow' });
  });

  test.each([
    ['https://github.com/a/b', 'allow'],
    ['https://alice@example.com/a/b', 'allow'],
    ['ssh://git@example.com/a/b', 'allow'],
    ['git@example.com:a/b', 'allow'],
    ['https://0123456789abcdef0123456789abcdef01234567@example.com/a', 'deny'],
    ['https://alice:short@example.com/a', 'deny'],
  ])('the address of a remote: %s', async (address, decision) => {
    ws.write('src/a.js', '');
    const git = (...args: string[]) => execFileSync('git', args, { cwd: ws.path() });
    git('init', '-q');
    git('remote', 'add', 'origin', address);
    const policy = await engine(ws.path(), readFileSync(join(PRESETS, 'read-only.yaml'), 'utf8'));
    expect(await shell(policy, 'git remote -v')).toMatchObject({ decision });
    expect(await shell(policy, 'cd src && git remote -v')).toMatchObject({ decision });
    expect(await shell(policy, 'git remote')).toMatchObject({ decision: 'allow' });
  });
});

test('rg passes over dot files, unless an ignore file brings one back', async () => {
  ws.write('deep/.env', '');
  ws.write('deep/a.js', '');
  const policy = await engine(
    ws.path(),
    'version: 1\nmode: manual\nrules: [{id: g, tool: run_shell_command, command: [rg], decision: allow}]\n',
  );
  expect(await shell(policy, 'rg foo')).toMatchObject({ decision: 'allow' });
  expect(await shell(policy, 'rg -t js foo')).toMatchObject({ decision: 'allow' });
  ws.write('.gitignore', '.env*\n!.env.example\n');
  expect(await shell(policy, 'rg foo')).toMatchObject({ decision: 'allow' });
  ws.write('.ignore', '!.e*\n');
  expect(await shell(policy, 'rg foo')).toMatchObject({ decision: 'deny' });
});

test('git takes in what is not ignored, and shows what it has taken in', async () => {
  stageHidden(ws);
  ws.write('.gitignore', '.env\n*.key\nprivate\n/.config/\npolicy.yaml\n');
  await expectAll('allow', ['git add .', 'git add -A', 'git add -u']);
  ws.write('.gitignore', '.env\n*.key\n/.config/\n');
  await expectAll('deny', ['git add .', 'git add -A']);
  ws.write('.gitignore', '.env\n*.key\nprivate\n/.config/\n!.env\n');
  await expectAll('deny', ['git add .']);
});

test('read takes blanks around a line away, but not those in it', async () => {
  ws.write('docs/my notes.txt', '');
  const text =
    "version: 1\nmode: manual\nworkspace: {read_deny: ['docs/my notes.txt']}\nrules: [{id: all, tool: run_shell_command, decision: allow}]\n";
  const policy = await engine(ws.path(), text);
  const decision = async (line: string) => (await shell(policy, line)).decision;
  expect(await decision('read -r f <<< "docs/my notes.txt"; cat "$f"')).toBe('deny');
  expect(await decision('read -r f <<< " docs/my notes.txt"; cat "$f"')).toBe('deny');
  expect(await decision('read -r a f <<< "x docs/my notes.txt"; cat "$f"')).toBe('deny');
  ws.write('docs/my notes.txt ', '');
  expect(await decision('find docs -name \'*t \' | while read -r f; do cat "$f"; done')).toBe('deny');
  expect(await decision('read -r f g <<< "docs/a.txt x"; cat "$f"')).toBe('allow');
});

test('a folder with too many files to look at is not gone through', async () => {
  stageHidden(ws);
  await expectAll('deny', ['grep -r foo /usr /lib /var', 'grep -r foo /']);
});

test('variables of the environment are what they are', async () => {
  ws.write('.env', '');
  const variables = { WHERE: 'src', NAME: '.env' };
  const text =
    'version: 1\nmode: manual\nrules: [{id: c, tool: run_shell_command, command: [cat], decision: allow}]\n';
  const policy = await engine(ws.path(), text, { variables });
  expect(await shell(policy, 'cat $WHERE/a.js')).toMatchObject({ decision: 'allow' });
  expect(await shell(policy, 'cat "$NAME"')).toMatchObject({ decision: 'deny' });
});

test('the reason names the program, the word and what to do', async () => {
  stageHidden(ws);
  const policy = await stagedEngine(ws);
  const reason = async (line: string) => (await shell(policy, line)).reason;
  expect(await reason('cat "$(cat names.txt)"')).toBe(
    'cat prints files, and what "$(cat names.txt)" names is not known before it runs; name the file, or use a pattern, find or git ls-files (no sandbox hides anything here)',
  );
  expect(await reason('grep -rn foo .')).toBe(
    'grep: it would read .env, which the policy hides; name the files or folders to look in (no sandbox hides anything here)',
  );
  expect(await reason('x=.env; cat $x')).toBe(`${ws.path('.env')} is a file that holds secrets`);
});
