import { describe, expect, test } from '@jest/globals';
import { text } from '../helpers/gemini-server.mjs';
import { resultOf, runCli } from '../helpers/run-cli.js';
import { bosunUnder, place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const lint = async (files: Readonly<Record<string, string>>, ...args: readonly string[]) => {
  const { workspace, home } = place(files);
  return runCli(['policy', 'lint', ...args], { cwd: workspace, env: { HOME: home } });
};
const done = [{ parts: [text('Done.')] }];

describe('policy lint', () => {
  test('needs a policy', async () => {
    const { code, stdout, stderr } = await lint({});
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^bosun: error: no policy to check\. .*--policy.*\n$/);
  });

  test('says in one line that all is well; as JSON it is an empty list', async () => {
    expect(await lint({}, '--policy', 'codemod')).toMatchObject({
      code: 0,
      stdout: 'codemod: no warnings\n',
    });
    expect(await lint({}, '--policy', 'codemod', '--json')).toMatchObject({ code: 0, stdout: '[]\n' });
  });

  test.each(['read-only', 'review', 'codemod', 'ci-fix', 'yolo'])('%s passes --strict', async (preset) => {
    expect(await lint({}, '--strict', '--policy', preset)).toMatchObject({ code: 0 });
  });

  test('points to the word that a warning is about', async () => {
    const policy = `version: 1
mode: yolo
rules:
  - id: tools
    tool: run_shell_command
    command: [npm test, git,
      python]
    decision: allow
  - {id: all, tool: write_file, path: [src/**, "**"], decision: allow}
network:
  allow: [a.example, "*"]
`;
    const { stdout } = await lint({ 'p.yaml': policy }, '--policy', './p.yaml');
    expect(stdout.match(/(?<=p\.yaml:)\d+:\d+/g)).toEqual(['6:25', '7:7', '4:5', '9:48', '2:1', '11:22']);
  });
});

describe('a policy that allows nothing', () => {
  const useless = {
    'says nothing': 'version: 1\n',
    'leaves all tools out': 'version: 1\nmode: auto_edit\ntools: {exclude: ["*"]}\n',
    'denies all of them': 'version: 1\nrules:\n  - {id: no, tool: "*", decision: deny}\n',
  };
  test.each(Object.entries(useless))('since it %s is a warning', async (_, policy) => {
    const { code, stdout } = await lint({ 'p.yaml': policy }, '--strict', '--policy', './p.yaml');
    expect(code).toBe(3);
    expect(stdout).toMatch(/p\.yaml:1:1: warning: it allows nothing/);
  });

  test('is one in the run as well', async () => {
    const run = await bosunUnder(useless['leaves all tools out'], done);
    expect(resultOf(run.place).warnings).toEqual([
      expect.stringMatching(/policy\.yaml: it allows nothing: no tool can ever be called/),
    ]);
  });

  test.each([
    ['reads with limits', 'version: 1\nlimits: {turns: 5}\n'],
    ['asks', 'version: 1\nmode: manual\n'],
    ['has a server', 'version: 1\ntools: {offer: ["mcp:s/*"]}\nmcp: {servers: {s: {command: [x]}}}\n'],
  ])('is not one that %s', async (_, policy) => {
    expect((await lint({ 'p.yaml': policy }, '--policy', './p.yaml')).stdout).toBe('./p.yaml: no warnings\n');
  });
});

describe('an example that fails', () => {
  const rule = (decision: string, match: string, more = 'command: [npm test, git log]') =>
    `version: 1\nrules:\n  - id: r\n    tool: ${more.startsWith('path') ? 'write_file' : 'run_shell_command'}\n    ${more}\n    decision: ${decision}\n    match: [${match}]\n`;
  test.each([
    ['allow', 'npm test, npm tset', '7:23', '`tset` is where the rule has `test`'],
    ['allow', 'npm test; curl x', '7:13', 'none of its commands begins with `curl`'],
    ['allow', 'npm test --prefix x', '7:13', '--prefix makes npm do more than the rule says'],
    ['deny', 'npm run x', '7:13', '`run` is where the rule has `test`'],
    ['deny', 'ls', '7:13', 'none of its commands begins with `ls`'],
  ])('of a rule that says %s names the word: %s', async (decision, match, place_, why) => {
    const { code, stderr } = await lint({ 'p.yaml': rule(decision, match) }, '--policy', './p.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain(`p.yaml:${place_}: rule \`r\`: \`match\`: it does not match`);
    expect(stderr).toContain(why);
    expect(stderr).toMatch(/\. Examples are tried against their rule alone\.\n$/);
  });

  test('of a path names the globs', async () => {
    const policy = rule('allow', 'lib/a.ts', 'path: [src/**, test/**]');
    const { stderr } = await lint({ 'p.yaml': policy }, '--policy', './p.yaml');
    expect(stderr).toContain('it does not match "lib/a.ts": it is none of `src/**`, `test/**`.');
  });
});

describe('policy explain', () => {
  const explain = async (command: string) => {
    const { workspace, home } = place();
    const call = [
      '--policy',
      'codemod',
      '--tool',
      'run_shell_command',
      '--args',
      JSON.stringify({ command }),
    ];
    return (await runCli(['policy', 'explain', ...call], { cwd: workspace, env: { HOME: home } })).stdout;
  };

  test('shows redirections, and does not say of a command that writes that it only reads', async () => {
    const said = await explain('cat a > x');
    expect(said).toMatch(/^✓ allow: it writes x: mode auto_edit allows edit tools/);
    expect(said).toContain('✓ cat a > x\n');
    expect(said).toContain('✓ > x: mode auto_edit allows edit tools\n');
    expect(said).not.toContain('only read');
    expect(await explain('cat < x')).toMatch(
      /✓ cat < x\n +These only read.*\n +✓ < x: mode auto_edit allows read tools/,
    );
  });

  test('nothing is written where output is thrown away', async () => {
    expect(await explain('cat a > /dev/null 2>&1')).toMatch(/^✓ allow: These only read and print/);
  });
});
