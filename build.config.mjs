// Bundles the program: one small entry, and pieces that are loaded when a command needs them.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { PAGE_ASSETS, pageAssets } from './page-assets.mjs';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const webPieces = fileURLToPath(new URL('src/providers/http/web.ts', import.meta.url));

/** Gives the SDK's light half our Headers and Response instead of Node's: see src/providers/http/web.ts. */
const lightWeb = {
  name: 'light-web',
  setup({ onLoad }) {
    onLoad({ filter: /@google[\\/]genai[\\/]dist[\\/]web[\\/]index\.mjs$/ }, ({ path }) => ({
      contents: `import { Headers, Response } from ${JSON.stringify(webPieces)};\n${readFileSync(path, 'utf8')}`,
      loader: 'js',
    }));
  },
};

/** Bundled, a CommonJS package that is imported at run time has its exports under `default` only. */
const lateImports = {
  name: 'late-imports',
  setup({ onLoad }) {
    onLoad({ filter: /gaxios[\\/]build[\\/]\w+[\\/]src[\\/]gaxios\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(
        "(await import('https-proxy-agent')).HttpsProxyAgent",
        "(await import('https-proxy-agent').then((m) => m.HttpsProxyAgent ?? m.default.HttpsProxyAgent))",
      ),
      loader: 'js',
    }));
  },
};

/** We look at what MCP servers answer ourselves: the SDK needs no validator of its own, which is half of its size. */
const noValidator = {
  name: 'no-validator',
  setup({ onLoad }) {
    onLoad({ filter: /modelcontextprotocol[\\/]client[\\/]dist[\\/]shimsNode\.mjs$/ }, () => ({
      contents: 'export const CORS_IS_POSSIBLE = false; export class DefaultJsonSchemaValidator {}',
      loader: 'js',
    }));
  },
};

/** The page of the HTML report travels in the program. */
const reportPage = {
  name: 'report-page',
  setup({ onLoad }) {
    onLoad({ filter: PAGE_ASSETS }, () => ({ contents: pageAssets(), loader: 'js' }));
  },
};

const root = fileURLToPath(new URL('.', import.meta.url));
for (const old of ['cli', 'cli.js', 'cli.js.map', 'index', 'index.js', 'index.js.map']) {
  rmSync(`${root}dist/${old}`, { recursive: true, force: true });
}

/** The program and the library share no pieces, so that each is in as few files as possible. */
const bundle = (name, entry) =>
  build({
    absWorkingDir: root,
    entryPoints: { [name]: entry },
    outdir: 'dist',
    chunkNames: `${name}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'linked',
    logLevel: 'warning',
    define: { BOSUN_VERSION: JSON.stringify(version) },
    // Some of what is bundled is CommonJS and asks for Node's modules at run time.
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    // Dependencies that want to talk would do so on our stdout.
    drop: ['console'],
    // Ships a program for each platform; it is found where npm has put it, or not at all.
    external: ['@vscode/ripgrep'],
    plugins: [lightWeb, lateImports, noValidator, reportPage],
  });
await Promise.all([bundle('cli', 'src/cli/main.ts'), bundle('index', 'src/index.ts')]);

const schema = await build({
  absWorkingDir: root,
  stdin: {
    contents: `export { TRANSCRIPT_SCHEMA } from './src/transcript/schema.ts';
      export { POLICY_SCHEMA } from './src/policy/schema.ts';
      export * from './src/protocol/approval-schema.ts';`,
    resolveDir: root,
  },
  bundle: true,
  format: 'esm',
  write: false,
});
const schemas = await import(
  `data:text/javascript;base64,${Buffer.from(schema.outputFiles[0].contents).toString('base64')}`
);
const shipped = {
  transcript: schemas.TRANSCRIPT_SCHEMA,
  policy: schemas.POLICY_SCHEMA,
  'confirmation-request': schemas.CONFIRMATION_REQUEST_SCHEMA,
  'approval-answer': schemas.APPROVAL_ANSWER_SCHEMA,
};
for (const [name, schema] of Object.entries(shipped)) {
  writeFileSync(`${root}dist/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`);
}
