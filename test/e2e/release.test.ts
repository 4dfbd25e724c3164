import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isThorough, thorough } from '../helpers/counts.js';
import { cleanEnv, REPOSITORY, runCli, scratch } from '../helpers/run-cli.js';
import { place } from '../helpers/served.js';

const run = promisify(execFile);
const manifest = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { version: string };
const NOT_IN_A_CLONE = ['node_modules', 'dist', 'coverage', '.git', '.bosun'];

/** What may be in the package. */
const EXPECTED = [
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
  /^bin\/(bosun\.js|load\.js|package\.json)$/,
  /^dist\/build-id$/,
  /^dist\/(cli|index)(\.js|\/[\w-]+\.js)$/,
  /^dist\/[\w-]+\.schema\.json$/,
  /^dist\/types\/[\w/-]+\.d\.ts$/,
  /^dist\/THIRD-PARTY-NOTICES\.txt$/,
  /^policies\/[\w-]+\.yaml$/,
  /^docs\/([\w-]+\/)*([\w-]+\.(md|mjs|sh|yaml|yml)|[\w-]+\.schema\.json|crontab)$/,
  /^fixtures\/demo\//,
];

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** Texts of ours in which pages are named; globs of users look the same. */
function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('tools/files'))
    .map((name) => join('src', name));
}

/** A clone as npm finds it, with what builds it but without what was built. */
function clone(root: string): string {
  const folder = join(root, 'clone');
  cpSync(REPOSITORY, folder, {
    recursive: true,
    filter: (source) => !NOT_IN_A_CLONE.includes(basename(source)) || source === REPOSITORY,
  });
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

describe('the package', () => {
  const where = scratch();
  afterAll(where.remove);
  const env = cleanEnv(where.home);
  const installed = join(where.root, 'empty folder');
  let packed: Packed;
  const bosun = (...args: string[]) =>
    run(join(installed, 'node_modules/.bin/bosun'), args, { cwd: installed, env });

  const pack = async (cwd: string, ...args: string[]) => {
    const { stdout } = await run('npm', ['pack', '--json', ...args], { cwd, env });
    [packed] = JSON.parse(stdout) as [Packed];
  };

  // Built, packed and installed in the soak tier. In the others it is what would be packed here, which is built already.
  beforeAll(async () => {
    if (!isThorough) return pack(REPOSITORY, '--dry-run', '--ignore-scripts');
    await pack(clone(where.root), '--pack-destination', where.root);
    mkdirSync(installed);
    // Without a network: the one thing that npm would fetch is optional.
    const args = ['install', '--offline', '--no-audit', '--no-fund', join(where.root, packed.filename)];
    await run('npm', args, { cwd: installed, env });
  });

  test('holds what is needed, and is small', () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => !EXPECTED.some((pattern) => pattern.test(path)))).toEqual([]);
    for (const pattern of EXPECTED) expect(paths.some((path) => pattern.test(path))).toBe(true);
    expect(packed.size).toBeLessThan(2_300_000);
    expect(packed.unpackedSize).toBeLessThan(8_200_000);
  });

  thorough('brings nothing along but ripgrep', async () => {
    const modules = join(installed, 'node_modules');
    const packages = readdirSync(modules).filter((name) => !name.startsWith('.'));
    // Where ripgrep cannot be had the installation goes on without it.
    expect(packages.filter((name) => name !== '@vscode')).toEqual(['bosun']);
    const { stdout } = await run('du', ['-sk', modules]);
    expect(Number(stdout.split('\t')[0])).toBeLessThan(20 * 1024);
  });

  test('has every page that the program and README speak of', async () => {
    const paths = packed.files.map(({ path }) => path);
    const spoken = ['README.md', ...sources(join(REPOSITORY, 'src'))].flatMap((file) =>
      [...readFileSync(join(REPOSITORY, file), 'utf8').matchAll(/\bdocs\/[\w/-]+(\.\w+)?/g)].map(
        ([name]) => name,
      ),
    );
    const { stdout } = isThorough ? await bosun('help', 'run') : await runCli(['help', 'run']);
    const named = [...new Set([...spoken, ...(stdout.match(/docs\/[\w-]+\.md/g) ?? [])])];
    expect(named).toEqual(expect.arrayContaining(['docs/policy.md', 'docs/security.md', 'docs/events.md']));
    expect(
      named.filter((name) => !paths.some((path) => path === name || path.startsWith(`${name}/`))),
    ).toEqual([]);
  });

  test('keeps what every run loads small', () => {
    const sizeOf = (pattern: RegExp) => packed.files.find(({ path }) => pattern.test(path))?.size;
    expect(sizeOf(/^dist\/cli\.js$/)).toBeLessThan(5_000);
    expect(sizeOf(/^dist\/cli\/program-/)).toBeLessThan(125_000);
    expect(sizeOf(/^dist\/cli\/perform-run-/)).toBeLessThan(400_000);
    expect(sizeOf(/^dist\/cli\/sdk-web-/)).toBeLessThan(200_000);
  });

  thorough('works in an empty folder with an empty HOME and no other package', async () => {
    const demo = await run('npx', ['--offline', 'bosun', 'demo'], { cwd: installed, env });
    expect(demo.stdout).toContain('bulk discount');
    expect(demo.stderr).toMatch(/status +completed, exit 0/);
    expect((await bosun('--version')).stdout.trim()).toBe(manifest.version);
    const call = ['--tool', 'run_shell_command', '--args', '{"command":"npm test"}'];
    const checked = await bosun('policy', 'check', '--policy', 'codemod', ...call);
    expect(JSON.parse(checked.stdout)).toMatchObject({ decision: 'allow' });
  });

  thorough('is a library with types', async () => {
    const code =
      "import('bosun').then((bosun) => process.stdout.write(typeof bosun.run + bosun.EXIT_CODES.denied))";
    expect((await run(process.execPath, ['-e', code], { cwd: installed, env })).stdout).toBe('function3');
    const user = `
      import { run, type Approve, type OwnTool, type RunRequest, type TranscriptLine } from 'bosun';
      const tool: OwnTool = {
        name: 'ours', description: 'Ours.', parameters: { type: 'object' }, kind: 'read',
        execute: async ({ id }, { callId, signal }) => (signal.aborted ? callId : { id }),
      };
      const approve: Approve = async ({ tool_call_id }, { signal }) => ({
        tool_call_id, selected_option_id: signal.aborted ? 'cancel' : 'proceed_once',
      });
      const event = (line: TranscriptLine): string => (line.type === 'tool_result' ? line.tool_id : '');
      export const start = (request: RunRequest) =>
        run({ ...request, tools: [tool], approve, reporters: [{ event: (line) => void event(line) }] });
      // @ts-expect-error A tool needs an execute function.
      export const broken: OwnTool = { name: 'x', description: 'x', parameters: {} };
    `;
    await run(process.execPath, ['-e', `fs.writeFileSync('user.mts', ${JSON.stringify(user)})`], {
      cwd: installed,
    });
    const tsc = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
    const flags = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--skipLibCheck',
      'false',
      '--types',
      'node',
    ];
    const roots = ['--typeRoots', join(REPOSITORY, 'node_modules/@types')];
    await run(process.execPath, [tsc, ...flags, ...roots, 'user.mts'], { cwd: installed, env });
  });

  test('carries the licences of what is bundled', () => {
    const folder = isThorough ? join(installed, 'node_modules/bosun') : REPOSITORY;
    const notices = readFileSync(join(folder, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
    const titles = notices.match(/(?<=^-{80}\n).*$/gm) ?? [];
    for (const name of [
      '@google/genai',
      '@modelcontextprotocol/client',
      'ajv',
      'commander',
      'google-auth-library',
      'yaml',
    ])
      expect(titles.some((title) => title.startsWith(`${name} `))).toBe(true);
    expect(
      titles.filter((title) => !/^\S+ \d+\.\S+ \((MIT|ISC|Apache-2\.0|BSD-[23]-Clause)\)$/.test(title)),
    ).toEqual([]);
    const texts = notices.split(/^-{80}\n/m).slice(1);
    expect(texts.filter((text) => !/copyright|apache license/i.test(text))).toEqual([]);
  });
});

describe('an installation without what builds it', () => {
  const prepare = async (hasDist: boolean) => {
    const { root } = place();
    mkdirSync(join(root, 'build'));
    cpSync(join(REPOSITORY, 'build/prepare.mjs'), join(root, 'build/prepare.mjs'));
    if (hasDist) cpSync(join(REPOSITORY, 'dist/cli.js'), join(root, 'dist/cli.js'));
    return run(process.execPath, [join(root, 'build/prepare.mjs')]);
  };

  test('is content with what was built elsewhere', async () => {
    expect(await prepare(true)).toEqual({ stdout: '', stderr: '' });
  });

  test('says so if nothing was', async () => {
    await expect(prepare(false)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^bosun: dist\/ .+\n$/),
    });
  });
});

test('the version is the same wherever it is told', () => {
  const text = (name: string) => readFileSync(join(REPOSITORY, name), 'utf8');
  expect(/^## (\S+)/m.exec(text('CHANGELOG.md'))?.[1]).toBe(manifest.version);
  const tags = text('README.md').match(/(?<=bosun@v)[\d.]+\d/g) ?? [];
  expect([...new Set(tags)]).toEqual([manifest.version]);
  expect(existsSync(join(REPOSITORY, 'LICENSE'))).toBe(true);
});
