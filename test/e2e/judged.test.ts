import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { runHere, runUnder } from '../helpers/in-process.js';
import { eventsOf, fileIn, ofType, resultOf, type Scratch } from '../helpers/run-cli.js';
import { approvedBy } from '../helpers/approvals.js';
import { bosunRun } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const sh = (command: string, id = '1') => call('run_shell_command', { command }, { id });

const HOLES = [
  'x=($(touch pwned))-',
  "x='a[$(touch pwned)]'; y=([x]=1)",
  `x='$(touch pwned)'; : "$\\\n{x@P}"`,
  `x='$(touch pwned)'; : "$\\\n[x]"`,
  'true',
  'x=1',
];

const errorIn = (where: Scratch) => ofType(eventsOf(where), 'tool_result')[0]?.error?.type;
/** What the command itself printed. */
const printedIn = (where: Scratch) =>
  String(ofType(eventsOf(where), 'tool_result')[0]?.output).split('Output:')[1];
const isPwned = (where: Scratch) => existsSync(join(where.workspace, 'pwned'));

describe('without a rule there is no shell', () => {
  sampled.each(HOLES)('in plan mode it is not offered, and %j is a denial', async (command) => {
    const { code, place: where, server } = await runHere([{ parts: [sh(command)] }, done]);
    expect(code).toBe(3);
    expect(isPwned(where)).toBe(false);
    expect(JSON.stringify(server.requests[0]?.body.tools)).not.toContain('run_shell_command');
    expect(resultOf(where).denials).toMatchObject([{ tool_name: 'run_shell_command' }]);
    expect(errorIn(where)).toBe('policy_denied');
  });

  test.each(['manual', 'auto_edit'] as const)('in %s mode even `true` is asked about', async (mode) => {
    const { code, place: where } = await runHere([{ parts: [sh('true')] }, done], { mode });
    expect(code).toBe(3);
    expect(errorIn(where)).toBe('approval_denied');
  });

  test('an approver hears of an assignment, and says it once', async () => {
    const script = [{ parts: [sh('x=1; true')] }, { parts: [sh('y=2', '2')] }, done];
    const { place: where } = await approvedBy(`answer('proceed_always')`, script);
    // No program is in the second line, so that no «always» covers it.
    const answers = ofType(eventsOf(where), 'approval_response');
    expect(answers).toMatchObject([{ tool_id: '1' }, { tool_id: '2' }]);
    expect(answers.map(({ source }) => source)).not.toContain('grant');
  });
});

describe('beside a rule', () => {
  const ECHO =
    'version: 1\nmode: plan\nrules:\n  - {id: some, tool: run_shell_command, command: [echo], decision: allow, reason: It prints.}\n';

  sampled.each(HOLES.slice(0, 4))('%j cannot be understood', async (command) => {
    const { code, place: where } = await runUnder(ECHO, [{ parts: [sh(command)] }, done]);
    expect(code).toBe(3);
    expect(isPwned(where)).toBe(false);
    expect(resultOf(where).denials[0]?.reason).toMatch(/^the command cannot be judged: /);
  });

  test('the free words are free, and the shell is given what was judged', async () => {
    const command = `x="a b"; if [ -n "$x" ]; then echo "$x" 'c $(d)' ~ $((1+2)) # no\nfi; echo "$BASH_EXECUTION_STRING"`;
    const { code, place: where } = await runUnder(ECHO, [{ parts: [sh(command)] }, done]);
    expect(code).toBe(0);
    const [use] = ofType(eventsOf(where), 'tool_use');
    expect(use?.parameters).toMatchObject({ command });
    const [result] = ofType(eventsOf(where), 'tool_result');
    expect(result?.output).toContain('a b c $(d)');
    expect(result?.output).toContain(`'echo' "\${x}" 'c $(d)' ~ $((1 + 2));`);
    expect(printedIn(where)).not.toContain('# no');
  });

  test('under yolo the shell is given the line itself, unless commands are denied', async () => {
    const line = 'echo "$BASH_EXECUTION_STRING" # as it is';
    const { place: free } = await runHere([{ parts: [sh(line)] }, done], { mode: 'yolo' });
    expect(ofType(eventsOf(free), 'tool_result')[0]?.output).toContain('# as it is\n');
    const { place: judged } = await bosunRun([{ parts: [sh(line)] }, done], ['--policy', 'yolo']);
    expect(printedIn(judged)).not.toContain('# as it is');
  });

  test('under yolo with denials nothing hides in what the parser misreads', async () => {
    for (const hidden of ['x=($(sudo touch pwned))-', "x='a[$(git push)]'; y=([x]=1)"]) {
      const { code } = await bosunRun([{ parts: [sh(hidden)] }, done], ['--policy', 'yolo']);
      expect(code).toBe(3);
    }
  });
});

test('what is in a file is read by nobody but the shell', async () => {
  const policy =
    'version: 1\nmode: auto_edit\nrules:\n  - {id: some, tool: run_shell_command, command: [cat], decision: allow, reason: It prints.}\n';
  const command = "cat > notes.md <<'EOF'\nit's `code` and $x\nEOF\n";
  const { code, place: where } = await runUnder(policy, [{ parts: [sh(command)] }, done]);
  expect(code).toBe(0);
  expect(fileIn(where, 'notes.md')).toBe("it's `code` and $x\n");
});
