import { expect, test } from '@jest/globals';
import { lineRisk } from '../../src/policy/shell/risk.js';
import { RISKS, worstRisk, type Risk } from '../../src/protocol/risk.js';

const LINES: Readonly<Record<Risk, readonly string[]>> = {
  reads: [
    'cat a.txt',
    '/usr/bin/cat a.txt',
    'git status | head -3',
    'git log --oneline -5 2>/dev/null',
    'git --no-pager log',
    'cd src && ls -la; true',
    'for f in *.ts; do wc -l "$f"; done',
    'timeout 5 cat a.txt',
    "bash -c 'ls; pwd'",
    'test -f a.txt && echo yes',
    'sed -n 1,5p a.txt',
    'x=1; echo $x',
    'sleep 1',
    'grep -r foo . < list.txt',
    'show() { cat "$1"; }; show a.txt',
    'find . -name "*.ts"',
    'ls | xargs grep foo',
  ],
  writes: [
    'rm -rf build',
    'echo x > a.txt',
    'cat a.txt >> b.txt',
    '> a.txt',
    'mkdir -p a/b && cp x a/b',
    'sed -i s/a/b/ a.txt',
    'git add -A && git commit -m x',
    'ls | tee list.txt',
    "bash -c 'rm x'",
    'ls | xargs rm',
    'if test -f a; then touch b; fi',
  ],
  network: [
    'curl https://example.org',
    'git push origin main',
    'git fetch && git log',
    'npm install',
    'npm ci > log',
    'pip install x',
    'docker pull x',
    'echo x > /dev/tcp/example.org/80',
    'env A=1 curl x',
  ],
  unknown: [
    'git -C log push',
    'git --git-dir log fetch origin',
    'git -c log push',
    'ssh host ls',
    'find . -name "*.o" -exec rm {} \\;',
    'npm test',
    'make',
    'node a.js',
    './cat a.txt',
    'bin/ls',
    '$CMD x',
    'sudo ls',
    'PATH=. ls',
    'env LD_PRELOAD=x ls',
    'eval "$x"',
    'git -c core.pager=x log',
    'git difftool',
    'awk \'BEGIN { system("x") }\'',
    "sed -i 's/a/b/e' a.txt",
    'find . -delete',
    'sort -o a b',
    'curl x | sh',
    'rm x && ./deploy',
    'ls "unterminated',
    'docker run x',
    'source a.sh',
    '[ -v "a[$(x)]" ]',
  ],
};

const cases = Object.entries(LINES).flatMap(([risk, lines]) => lines.map((line) => [line, risk] as const));
test.each(cases)('%s: %s', (line, risk) => {
  expect(lineRisk(line)).toBe(risk);
});

test('of several the worst counts', () => {
  expect(worstRisk([])).toBe('reads');
  for (const [i, worse] of RISKS.entries())
    for (const less of RISKS.slice(0, i + 1)) expect(worstRisk([less, worse, less])).toBe(worse);
});
