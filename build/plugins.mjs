// What the build changes in packages before it bundles them.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const webPieces = fileURLToPath(new URL('../src/providers/http/web.ts', import.meta.url));
const SDK = /@google[\\/]genai[\\/]dist[\\/](web|node)[\\/]index\.mjs$/;

/**
 * Leaves of the SDK what asks models, a third of it. Its light half gets our Headers and Response instead of
 * Node's: see src/providers/http/web.ts.
 */
export const lightSdk = {
  name: 'light-sdk',
  setup({ onLoad }) {
    onLoad({ filter: SDK }, ({ path }) => {
      const code = modelsOnly(readFileSync(path, 'utf8'), path);
      const isWeb = SDK.exec(path)?.[1] === 'web';
      if (isWeb && !/new (Headers|Response)\(/.test(code)) throw misfit(path, 'web-pieces');
      const pieces = isWeb ? `import { Headers, Response } from ${JSON.stringify(webPieces)};\n` : '';
      return { contents: `${pieces}${code}`, loader: 'js' };
    });
  },
};

/** The client is a list of parts that are made with it. Without the list, what only others use falls away. */
function modelsOnly(code, path) {
  const start = code.indexOf('\nclass GoogleGenAI {\n');
  const before = code.slice(0, start);
  const client = code.slice(start);
  const constructor = client.indexOf('\n    constructor(options');
  const lean = client
    .slice(constructor)
    .replaceAll(/^ {8}this\.(?!models\b)\w+ = new \w[\w$]*\(this\.(?:apiClient|models)\b.*\);\n/gm, '');
  if (start < 0 || constructor < 0 || /new (?:Live|Batches|Chats)\(/.test(lean)) {
    throw misfit(path, 'models-only');
  }
  return `${before}\nclass GoogleGenAI {${lean}`;
}

/** Each of these is a row of src/providers/gemini/sdk-workarounds.ts. */
function misfit(path, workaround) {
  return new Error(`${path} is not written as build/plugins.mjs expects it (${workaround})`);
}

const AGENT_IMPORT = "(await import('https-proxy-agent')).HttpsProxyAgent";

/** Bundled, a CommonJS package that is imported at run time has its exports under `default` only. */
export const lateImports = {
  name: 'late-imports',
  setup({ onLoad }) {
    onLoad({ filter: /gaxios[\\/]build[\\/]\w+[\\/]src[\\/]gaxios\.js$/ }, ({ path }) => {
      const code = readFileSync(path, 'utf8');
      if (!code.includes(AGENT_IMPORT)) throw misfit(path, 'late-imports');
      const found =
        "(await import('https-proxy-agent').then((m) => m.HttpsProxyAgent ?? m.default.HttpsProxyAgent))";
      return { contents: code.replace(AGENT_IMPORT, found), loader: 'js' };
    });
  },
};

/** We look at what MCP servers answer ourselves: the SDK needs no validator of its own, which is half of its size. */
export const noValidator = {
  name: 'no-validator',
  setup({ onLoad }) {
    onLoad({ filter: /modelcontextprotocol[\\/]client[\\/]dist[\\/]shimsNode\.mjs$/ }, () => ({
      contents: 'export const CORS_IS_POSSIBLE = false; export class DefaultJsonSchemaValidator {}',
      loader: 'js',
    }));
  },
};

const SPAWNER = "const childProcess = require('node:child_process');";

/** Commander can start programs for commands, which nobody here does: what Node loads for that takes 2 ms. */
export const noSpawner = {
  name: 'no-spawner',
  setup({ onLoad }) {
    onLoad({ filter: /commander[\\/]lib[\\/]command\.js$/ }, ({ path }) => {
      const code = readFileSync(path, 'utf8');
      if (!code.includes(SPAWNER)) throw new Error(`${path} is not written as build/plugins.mjs expects it`);
      const contents = code.replace(
        SPAWNER,
        "const childProcess = { get spawn() { return require('node:child_process').spawn; } };",
      );
      return { contents, loader: 'js' };
    });
  },
};
