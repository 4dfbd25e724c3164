import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { OutputFile } from '../../../src/lib/output-file.js';
import { modeOnly } from '../../../src/policy/document.js';
import { createEngine } from '../../../src/policy/engine.js';
import { rootCommands } from '../../../src/policy/shell/lazy.js';
import { runCommand } from '../../../src/sandbox/local.js';
import { runShellCommandTool, type ShellSettings } from '../../../src/tools/builtin/run-shell-command.js';
import type { ExecuteContext } from '../../../src/protocol/tool.js';
import { callTool, errorOf, invocationOf, textOf } from '../../helpers/call-tool.js';
import { isAlive } from '../../helpers/until.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();

const tool = (settings: Partial<ShellSettings> = {}) =>
  runShellCommandTool({
    workspace: ws.path(),
    environment: { PATH: process.env['PATH'] ?? '' },
    timeoutMs: 20_000,
    idleTimeoutMs: 20_000,
    runCommand,
    shellText: async (line) => line,
    rootCommands,
    ...settings,
  });
const call = (params: object, settings?: Partial<ShellSettings>, context?: Partial<ExecuteContext>) =>
  callTool(tool(settings), params, context);

describe('the result tells', () => {
  test('command, directory, exit code and output', async () => {
    expect(await call({ command: 'echo out; echo err >&2; exit 3', description: 'try it' })).toEqual({
      ok: true,
      content: 'Command: echo out; echo err >&2; exit 3\nDirectory: .\nExit Code: 3\nOutput:\nout\nerr\n',
      process: { exit_code: 3, signal: null },
    });
  });

  test('that there was no output', async () => {
    expect(textOf(await call({ command: 'true' }))).toBe(
      'Command: true\nDirectory: .\nExit Code: 0\nOutput:\n(empty)',
    );
  });

  test('the signal that ended the shell', async () => {
    const report = await call({ command: 'kill -KILL $$' });
    expect(textOf(report)).toContain('\nSignal: SIGKILL\n');
    expect(textOf(report)).not.toContain('Exit Code');
    expect(report.process).toEqual({ exit_code: null, signal: 'SIGKILL' });
  });

  test('what was left running', async () => {
    const report = await call({ command: 'sleep 60 & echo $!' });
    const pid = Number(/Output:\n(\d+)\n/.exec(textOf(report))?.[1]);
    expect(textOf(report)).toContain(`\nLeft running, killed: ${pid}\n`);
    expect(report.process).toEqual({ exit_code: 0, signal: null, leftover_pids: [pid] });
    expect(isAlive(pid)).toBe(false);
  });

  test('the size of binary output, not the output', async () => {
    const text = textOf(await call({ command: 'head -c 5000 /dev/zero' }));
    expect(text).toMatch(/Output:\n\[binary output, 5000 bytes\]$/);
  });

  test('clean text', async () => {
    const text = textOf(
      await call({ command: String.raw`printf '\033[31mred\033[0m \377 \360\237\230\200'` }),
    );
    expect(text).toMatch(/Output:\nred \ufffd 😀$/);
  });

  test('head and tail of long output, and where all of it is', async () => {
    const openOutput = () => new OutputFile(ws.path('out/call.txt'), 'out/call.txt', 1000);
    const report = await call({ command: 'seq 100000' }, {}, { openOutput });
    const text = textOf(report);
    expect(report.full_output).toBe('out/call.txt');
    expect(text).toMatch(
      /Output:\n1\n2\n3\n[^]*\n\[… about \d+ bytes cut; full output: out\/call\.txt …\]\n/,
    );
    expect(text).toMatch(/\n99999\n100000\n$/);
    expect(text.length).toBeLessThan(1300);
    expect(readFileSync(ws.path('out/call.txt'), 'utf8').trimEnd().split('\n')).toHaveLength(100_000);
  });
});

describe('the command has', () => {
  test('variables that keep programs from asking, over those of the run', async () => {
    const environment = { PATH: process.env['PATH'] ?? '', TERM: 'xterm', PAGER: 'less', OWN: 'kept' };
    const names = 'CI PAGER GIT_PAGER GIT_TERMINAL_PROMPT GIT_EDITOR TERM DEBIAN_FRONTEND OWN';
    const command = `for name in ${names}; do printf '%s=%s ' "$name" "\${!name}"; done`;
    expect(textOf(await call({ command }, { environment }))).toContain(
      'CI=1 PAGER=cat GIT_PAGER=cat GIT_TERMINAL_PROMPT=0 GIT_EDITOR=true TERM=dumb ' +
        'DEBIAN_FRONTEND=noninteractive OWN=kept',
    );
  });

  test('an empty stdin', async () => {
    expect(textOf(await call({ command: 'wc -c' }))).toMatch(/Output:\n0\n$/);
  });

  test.each([{ directory: 'sub/dir' }, { dir_path: 'sub/dir' }, { directory: './sub/../sub/dir/' }])(
    'the directory of the call: %j',
    async (params) => {
      mkdirSync(ws.path('sub/dir'), { recursive: true });
      const text = textOf(await call({ command: 'pwd', ...params }));
      expect(text).toContain('\nDirectory: sub/dir\n');
      expect(text).toContain(`Output:\n${ws.path('sub/dir')}\n`);
    },
  );
});

describe('time that is up is an error with the output so far', () => {
  test('in all', async () => {
    const report = await call({ command: 'echo started; sleep 60' }, { timeoutMs: 250 });
    const error = errorOf(report);
    expect(error.type).toBe('timeout');
    expect(error.message).toMatch(/^Killed after 250 ms\.\nCommand: echo started[^]*Output:\nstarted\n$/);
    expect(report.process).toEqual({ exit_code: null, signal: 'SIGTERM', timed_out: true });
  });

  test('in silence', async () => {
    const report = await call({ command: 'echo started; sleep 60' }, { idleTimeoutMs: 250 });
    expect(errorOf(report).message).toMatch(/^Killed after 250 ms without output\.\n[^]*Output:\nstarted\n$/);
    expect(report).toMatchObject({ error: { type: 'timeout' }, process: { timed_out: true } });
  });
});

test('a cancelled command is told as cancelled, with the output so far', async () => {
  const abort = new AbortController();
  const seen: string[] = [];
  const onOutput = (text: string) => {
    seen.push(text);
    abort.abort();
  };
  const report = await call({ command: 'echo started; sleep 60' }, {}, { signal: abort.signal, onOutput });
  expect(errorOf(report).type).toBe('cancelled');
  expect(errorOf(report).message).toContain('Output:\nstarted\n');
  expect(report.process).not.toHaveProperty('timed_out');
  expect(seen).toEqual(['started\n']);
});

describe('what cannot be run is told', () => {
  test.each([
    ['a directory that is not there', 'missing'],
    ['a file for a directory', 'file'],
    ['a directory below a file', 'file/below'],
  ])('%s', async (_, directory) => {
    ws.write('file', '');
    expect(errorOf(await call({ command: 'touch made', directory }))).toEqual({
      type: 'file_not_found',
      message: expect.stringContaining(directory),
    });
  });

  test.each([
    [{}, '`command` is missing'],
    [{ command: '' }, '`command`'],
    [{ command: ' \n\t' }, '`command` is blank'],
    [{ command: 'echo a\0b' }, '`command` contains a NUL'],
    [{ command: ['ls'] }, '`command` must be a string'],
    [{ command: 'ls', directry: '.' }, '`directry` is not known (did you mean `directory`?)'],
  ])('parameters %j', async (params, fault) => {
    expect(errorOf(await call(params))).toEqual({
      type: 'invalid_tool_params',
      message: expect.stringContaining(fault),
    });
  });

  test.each([
    ['at once', 'yes', 'write'],
    ['at the end', 'seq 400', 'finish'],
  ])('output that finds the disk full %s, and the command is not let run on', async (_, command, where) => {
    const full = () => {
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    const openOutput = () => {
      const real = new OutputFile(ws.path('call.txt'), 'call.txt', 1000);
      const write = where === 'write' ? full : (chunk: Uint8Array) => real.write(chunk);
      return { write, finish: where === 'finish' ? full : () => real.finish() };
    };
    expect(errorOf(await call({ command }, {}, { openOutput })).type).toBe('no_space_left');
  });
});

describe('a directory outside the workspace', () => {
  test.each(['..', '/', 'link', 'link/below'])(
    'is one that the policy is asked about: %s',
    async (directory) => {
      mkdirSync(ws.outside('other'));
      symlinkSync('../other', ws.path('link'));
      const { paths, params } = await invocationOf(tool(), { command: 'ls', directory });
      const settings = { workspace: ws.path(), writeProtected: [], home: undefined, untrusted: false };
      const engine = createEngine(modeOnly('yolo'), settings);
      const answer = await engine.decide({ tool: 'run_shell_command', kind: 'execute', paths, params });
      expect(answer).toEqual({ outside: expect.stringContaining(directory) });
    },
  );
});

test('before it is allowed the call shows what it would run', async () => {
  const invocation = await invocationOf(tool(), { command: 'npm test -- --ci | tee log', dir_path: 'sub' });
  expect(invocation.describe()).toBe('Run npm test -- --ci | tee log (in sub)');
  expect(await invocation.confirmation()).toEqual({
    type: 'exec',
    command: 'npm test -- --ci | tee log',
    directory: 'sub',
    root_commands: ['npm', 'tee'],
    risk: 'unknown',
  });
});
