import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { rootCommands } from '../../src/policy/shell/lazy.js';
import { builtinTools } from '../../src/tools/builtin.js';
import { runCommand } from '../../src/sandbox/local.js';
import type { Invocation } from '../../src/protocol/tool.js';
import { OutputFile } from '../../src/lib/output-file.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

/** A call that is decided about, and then somebody puts a link to the outside where its folder was. */
async function afterSwap(tool: string, params: object) {
  ws.write('dir/file', 'inside');
  mkdirSync(ws.outside('victim'));
  writeFileSync(ws.outside('victim/file'), 'outside');
  const settings = {
    workspace: ws.path(),
    environment: { PATH: process.env['PATH'] ?? '' },
    timeoutMs: 5000,
    idleTimeoutMs: 5000,
    admits: () => true,
    outputCap: 1000,
    shellText: async (line: string) => line,
    rootCommands,
  };
  const found = builtinTools({ ...settings, runCommand }).find(({ name }) => name === tool);
  const built = await found?.build(params);
  const { invocation } = built as { invocation: Invocation };
  renameSync(ws.path('dir'), ws.path('elsewhere'));
  symlinkSync(ws.outside('victim'), ws.path('dir'));
  return invocation.execute({
    signal: new AbortController().signal,
    callId: 'c',
    onOutput: () => {},
    openOutput: () => new OutputFile(ws.path('out.txt'), 'out.txt', 1000),
  });
}

describe('what was decided about is what is used', () => {
  const calls: [string, object][] = [
    ['read_file', { file_path: 'dir/file' }],
    ['write_file', { file_path: 'dir/file', content: 'pwned' }],
    ['write_file', { file_path: 'dir/new', content: 'pwned' }],
    ['replace', { file_path: 'dir/file', old_string: 'outside', new_string: 'pwned' }],
    ['list_directory', { path: 'dir' }],
    ['run_shell_command', { command: 'cat file', directory: 'dir' }],
  ];
  test.each(calls)('%s %j refuses a folder that became a link', async (tool, params) => {
    const report = await afterSwap(tool, params);
    expect(report.ok).toBe(false);
    expect(report).not.toMatchObject({ content: expect.anything() });
    expect(readFileSync(ws.outside('victim/file'), 'utf8')).toBe('outside');
    expect(existsSync(ws.outside('victim/new'))).toBe(false);
  });
});
