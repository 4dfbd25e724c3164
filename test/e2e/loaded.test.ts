import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { call, startGeminiServer, text } from '../helpers/gemini-server.mjs';
import { sourcesBuilt, sourcesLoaded } from '../helpers/loaded.js';
import { eventsOf, ofType, REPOSITORY, runAgainst, runCli, scratch } from '../helpers/run-cli.js';

const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((clean) => clean()));

/** What no short run needs, and by what of it one can tell. */
const UNNEEDED = {
  "ajv's compiler": /node_modules\/ajv\/(?:dist|lib)\/(?:core|compile)/,
  'the grammar of Bash': /node_modules\/unbash\//,
  MCP: /node_modules\/@modelcontextprotocol\//,
  YAML: /node_modules\/yaml\//,
  execa: /node_modules\/execa\//,
  "the SDK's half for Node": /@google\/genai\/dist\/node\/|google-auth-library|gaxios/,
  'the HTML report': /src\/reporters\/html\//,
  re2: /node_modules\/re2js\//,
  turndown: /node_modules\/turndown\//,
  batches: /src\/batch\//,
};

function unneededIn(sources: readonly string[], but: readonly string[] = []): string[] {
  const found = Object.entries(UNNEEDED).filter(([, mark]) => sources.some((source) => mark.test(source)));
  return found.map(([name]) => name).filter((name) => !but.includes(name));
}

async function loadedByRun(
  args: readonly string[],
  files: Record<string, string> = {},
  { answer = 'done' } = {},
) {
  const place = scratch({ 'a.txt': 'hello\n', ...files });
  const server = await startGeminiServer([
    { parts: [call('read_file', { file_path: 'a.txt' }, { id: 'c' })] },
    { parts: [text(answer)] },
  ]);
  cleanups.push(place.remove, server.close);
  const sources = await sourcesLoaded(async (env) => {
    const { code, stderr } = await runAgainst(server, place, ['-p', 'go', ...args], {
      env,
      cwd: place.workspace,
    });
    if (code !== 0) throw new Error(stderr);
  });
  expect(sources).toContain('src/runs/compose.ts');
  return { place, sources };
}

describe('what a run loads', () => {
  test.each(['codemod', 'read-only', 'ci-fix', 'review'])('with the preset %s', async (preset) => {
    const { place, sources } = await loadedByRun(['--policy', preset]);
    expect(unneededIn(sources)).toEqual([]);
    const [init] = ofType(eventsOf(place), 'init');
    const bytes = readFileSync(join(REPOSITORY, 'policies', `${preset}.yaml`));
    expect(init?.policy[0]?.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  test('nothing is kept of it where HOME says', async () => {
    const { place } = await loadedByRun(['--policy', 'codemod']);
    expect(readdirSync(place.home)).toEqual([]);
  });

  test('with a mode', async () => {
    const { sources } = await loadedByRun(['--mode', 'plan']);
    expect(unneededIn(sources)).toEqual([]);
  });

  test('with a policy of its own, without examples', async () => {
    const { sources } = await loadedByRun(['--policy', 'p.yaml'], {
      'p.yaml': 'version: 1\nextends: [read-only]\nmode: auto_edit\n',
    });
    expect(unneededIn(sources, ['YAML'])).toEqual([]);
  });

  test('with a policy of its own, whose rules and examples are not about command lines', async () => {
    const { sources } = await loadedByRun(['--policy', 'p.yaml'], {
      'p.yaml': [
        'version: 1',
        'extends: [read-only]',
        'rules:',
        '  - id: sources',
        '    tool: [write_file, replace]',
        '    path: [src/**]',
        '    decision: allow',
        '    match: [src/a.ts]',
        '    not_match: [test/a.ts]',
        '',
      ].join('\n'),
    });
    expect(unneededIn(sources, ['YAML'])).toEqual([]);
  });
});

describe('the test of what is loaded fails', () => {
  test('for a policy with examples of command lines: the grammar of Bash', async () => {
    const { sources } = await loadedByRun(['--policy', 'p.yaml'], {
      'p.yaml':
        'version: 1\nrules:\n  - id: a\n    tool: run_shell_command\n    command: [make]\n    decision: allow\n    match: [make all]\n',
    });
    expect(unneededIn(sources, ['YAML'])).toEqual(['the grammar of Bash']);
  });

  test("with a schema for the answer: ajv's compiler", async () => {
    const files = { 's.json': '{"type":"string"}' };
    const args = ['--mode', 'plan', '--output-schema', 's.json'];
    const { sources } = await loadedByRun(args, files, { answer: '"done"' });
    expect(unneededIn(sources)).toContain("ajv's compiler");
  });

  test('where a command is run: execa', async () => {
    const { sources } = await loadedByRun(['--mode', 'yolo', '--verify', 'true']);
    expect(unneededIn(sources)).toContain('execa');
  });

  test('for each of the names, since the build has what they mean', () => {
    const all = sourcesBuilt();
    const unknown = Object.entries(UNNEEDED).filter(([, mark]) => !all.some((source) => mark.test(source)));
    expect(unknown).toEqual([]);
  });
});

test('what a check of one call loads', async () => {
  const sources = await sourcesLoaded(async (env) => {
    const args = ['--policy', 'codemod', '--tool', 'read_file', '--args', '{"file_path":"a"}'];
    const { code } = await runCli(['policy', 'check', ...args], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
    });
    expect(code).toBe(0);
  });
  expect(sources).toContain('src/policy/load.ts');
  expect(unneededIn(sources)).toEqual([]);
  expect(
    sources.filter((source) =>
      /@google\/genai|src\/(?:providers\/\w+|agent|scheduler|transcript)\//.test(source),
    ),
  ).toEqual([]);
});
