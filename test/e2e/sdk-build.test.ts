import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { build, type Plugin } from 'esbuild';
import { text } from '../helpers/gemini-server.mjs';
import { REPOSITORY, resultOf, runArgs, runCli, serverEnv } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { spoiltSdk } from '../helpers/spoilt-sdk.js';

const { lightSdk, lateImports } = (await import(join(REPOSITORY, 'build/plugins.mjs'))) as Record<
  'lightSdk' | 'lateImports',
  Plugin
>;

const SETTINGS = {
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'silent',
  banner: { js: "import{createRequire as c}from'node:module';const require=c(import.meta.url);" },
} as const;

async function bundle(entry: string, plugins: Plugin[]): Promise<string> {
  const stdin = { contents: entry, resolveDir: REPOSITORY };
  const { outputFiles } = await build({ ...SETTINGS, stdin, write: false, plugins });
  return outputFiles[0]?.text ?? '';
}

const WEB = "export { GoogleGenAI } from '@google/genai/web';";

/** A file of a package that is not written as the build expects it. */
function foreignFile(path: string): string {
  const file = join(place().root, 'node_modules', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'export class GoogleGenAI {}');
  return `export * from ${JSON.stringify(file)};`;
}

describe('what breaks without what the build changes in the SDK', () => {
  test('models-only: twice as much would be loaded', async () => {
    const [light, whole] = await Promise.all([bundle(WEB, [lightSdk]), bundle(WEB, [])]);
    expect(whole.length / light.length).toBeGreaterThan(2);
  });

  test("web-pieces: Node's whole HTTP client would be loaded", async () => {
    const use = `${WEB} import { GoogleGenAI } from '@google/genai/web';
      const fetch = async () => ({ ok: true, headers: new Map(), body: { getReader: () => ({ read: async () => ({ done: true }), releaseLock() {} }) } });
      const { models } = new GoogleGenAI({ apiKey: 'k', httpOptions: { fetch } });
      for await (const chunk of await models.generateContentStream({ model: 'm', contents: 'hi' })) void chunk;
      process.stdout.write(String(process.moduleLoadList.some((name) => name.includes('undici/undici'))));`;
    const loadsClient = async (plugins: Plugin[]) => {
      const file = join(place().root, 'use.mjs');
      writeFileSync(file, await bundle(use, plugins));
      return execFileSync(process.execPath, [file], { encoding: 'utf8' });
    };
    expect(await loadsClient([lightSdk])).toBe('false');
    expect(await loadsClient([])).toBe('true');
  });

  test('late-imports: the agent for proxies would not be found', async () => {
    const outdir = join(place().root, 'out');
    const contents = `const found = await import(${JSON.stringify(proxyAgent())});
      process.stdout.write(typeof found.HttpsProxyAgent + ' ' + typeof found.default.HttpsProxyAgent);`;
    // In pieces, as the program is.
    await build({ ...SETTINGS, stdin: { contents, resolveDir: REPOSITORY }, splitting: true, outdir });
    const said = execFileSync(process.execPath, [join(outdir, 'stdin.js')], { encoding: 'utf8' });
    expect(said).toBe('undefined function');
  });
});

/** What the SDK's credentials would load. */
function proxyAgent(): string {
  const nested = join(REPOSITORY, 'node_modules/gaxios/node_modules/https-proxy-agent');
  return existsSync(nested) ? nested : join(REPOSITORY, 'node_modules/https-proxy-agent');
}

describe('the build stops at an SDK that it was not made for', () => {
  test.each([
    ['models-only', '@google/genai/dist/web/index.mjs', () => lightSdk],
    ['late-imports', 'gaxios/build/esm/src/gaxios.js', () => lateImports],
  ])('%s', async (name, path, plugin) => {
    await expect(bundle(foreignFile(path), [plugin()])).rejects.toThrow(
      `is not written as build/plugins.mjs expects it (${name})`,
    );
  });
});

describe('an SDK that no longer fits is exit 1, and no outage', () => {
  const shadow = (code: string) => (file: string) =>
    writeFileSync(file, `${code}\n${readFileSync(file, 'utf8')}`);
  test.each<[string, (file: string) => void, RegExp]>([
    [
      'it writes the conversation differently',
      shadow(
        `const JSON = { ...globalThis.JSON, parse: globalThis.JSON.parse, stringify: (...all) => globalThis.JSON.stringify(...all)?.replace('"parts"', '"pieces"') };`,
      ),
      /no longer fits: the place of the conversation .* contents\)/,
    ],
    [
      'it sends without our fetch',
      (file) =>
        writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/abortSignal,\w+\.fetch/g, 'abortSignal')),
      /no longer fits/,
    ],
  ])('%s', async (_what, spoil, message) => {
    const { where, bin } = spoiltSdk(spoil);
    const server = await serve([{ parts: [text('Done.')] }]);
    const { code, stderr } = await runCli(runArgs(where, ['-p', 'hi']), {
      env: serverEnv(server, where),
      bin,
    });
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(stderr).toMatch(/bug in Bosun; please report it/);
    expect(resultOf(where)).toMatchObject({ status: 'internal_error', error: { code: 'bug' } });
  });
});
