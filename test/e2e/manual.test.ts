import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { EXIT_CODES } from '../../src/protocol/outcome.js';
import { REPOSITORY, runCli } from '../helpers/run-cli.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const COMMANDS = [
  ['run'],
  ['resume'],
  ['approve'],
  ['policy'],
  ...['check', 'explain', 'lint', 'schema', 'presets'].map((name) => ['policy', name]),
  ['report'],
  ['verify'],
  ...['list', 'prune'].map((name) => ['runs', name]),
  ['tools'],
  ['demo'],
  ['completion'],
];

/** Every flag that the contract names for bosun run, as far as it is in. */
const RUN_FLAGS = [
  ...[
    '-p, --prompt',
    '--prompt-file',
    '--stdin',
    '--stdin-timeout',
    '--file',
    '--untrusted',
    '--untrusted-file',
  ],
  ...[
    '--policy',
    '-m, --model',
    '-C, --cwd',
    '--mode',
    '-o, --output-format',
    '--transcript',
    '--reporter',
    '--replay',
  ],
  ...[
    '--max-turns',
    '--max-tool-calls',
    '--max-tokens',
    '--max-cost',
    '--timeout',
    '--output-schema',
    '--verify',
  ],
  ...[
    '--dry-run',
    '--log-level',
    '--log-format',
    '--quiet',
    '--color',
    '--tool-protocol',
    '--include-thoughts',
  ],
];

async function helpOf(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(words);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

describe.each(COMMANDS.map((words) => [words.join(' '), words] as const))('bosun %s', (name, words) => {
  test('has a page that help and --help show alike, with sections, and no line too long', async () => {
    const page = await helpOf(...words, '--help');
    expect(await helpOf('help', ...words)).toBe(page);
    expect(page).toMatch(new RegExp(`^Usage: bosun ${name}\\b`));
    for (const section of ['See also:', ...(name === 'policy' ? [] : ['Exit codes:'])])
      expect(page).toContain(`\n${section}\n`);
    expect(page.split('\n').filter((line) => line.length > 100)).toEqual([]);
    expect(page).not.toMatch(/undefined|\[object| $/m);
  });
});

test('the page of run has every flag, in groups, and every exit code', async () => {
  const page = await helpOf('run', '--help');
  for (const flag of RUN_FLAGS) expect(page).toMatch(new RegExp(`^  ${flag}[ \\n]`, 'm'));
  for (const [status, code] of Object.entries(EXIT_CODES))
    expect(page).toMatch(new RegExp(`^ +${code}  ${status}: `, 'm'));
  const headings = page.match(/^[A-Z].*:$/gm);
  expect(headings).toEqual(
    expect.arrayContaining(['The task:', 'Limits:', 'Examples:', 'Environment:', 'Files:']),
  );
});

test('help without a command is the page of bosun, and of one that does not exist exit 2', async () => {
  expect(await helpOf('help')).toBe(await helpOf('--help'));
  const { code, stdout, stderr } = await runCli(['help', 'me', 'mend', 'this']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^bosun: error: there is no command me mend this\. .*-p.*\n$/);
});

test('the README has the exit codes of the program', () => {
  const readme = readFileSync(join(REPOSITORY, 'README.md'), 'utf8');
  for (const [status, code] of Object.entries(EXIT_CODES))
    expect(readme).toMatch(
      new RegExp(`^\\| ${status === 'cancelled' ? '130, 143, 141' : code} +\\| \`${status}\` `, 'm'),
    );
});

test('--version --json tells what a bug report needs, under keys that stay', async () => {
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    version: string;
  };
  for (const args of [
    ['--version', '--json'],
    ['--json', '--version'],
  ]) {
    const facts = JSON.parse(await helpOf(...args)) as { commit: string | null };
    expect(facts).toEqual({
      name: 'bosun',
      version,
      schema_version: 1,
      commit: facts.commit,
      node: process.versions.node,
      platform: process.platform,
      arch: process.arch,
    });
    if (facts.commit !== null) expect(facts.commit).toMatch(/^[\da-f]{40}(-dirty)?$/);
  }
});
