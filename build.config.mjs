// Bundles the program: one small entry, and pieces that are loaded when a command needs them.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { commitOf } from './build/commit.mjs';
import { keepCompiled } from './build/compiled.mjs';
import { gather } from './build/gather.mjs';
import { thirdPartyNotices } from './build/notices.mjs';
import { readyPresets } from './build/presets.mjs';
import { lateImports, lightSdk, noSpawner, noValidator } from './build/plugins.mjs';
import { reportPage } from './build/report-page.mjs';
import { loadSchemas } from './build/schemas.mjs';
import { readyValidators } from './build/validators.mjs';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

const root = fileURLToPath(new URL('.', import.meta.url));
const commit = commitOf(root);
for (const old of ['.compiled', 'cli', 'cli.js', 'cli.js.map', 'index', 'index.js', 'index.js.map']) {
  rmSync(`${root}dist/${old}`, { recursive: true, force: true });
}

// Some of what is bundled is CommonJS and asks for Node's modules at run time.
const REQUIRE = {
  js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
};
/** A piece of the program is a script whose value is a function: see src/cli/load.ts. */
const PIECE = {
  format: 'cjs',
  banner: { js: '(function(exports,require,module,__filename){' },
  footer: { js: '})' },
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': '__filename' },
};
const common = {
  absWorkingDir: root,
  outdir: 'dist',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minify: true,
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
};

const schemas = await loadSchemas(root);
const presets = await readyPresets(root);

/** The program and the library share no pieces, so that each is in as few files as possible. */
const bundle = (name, entry, { plugins, ...more }) =>
  build({
    ...common,
    entryPoints: { [name]: entry },
    chunkNames: `${name}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    sourcemap: 'linked',
    metafile: true,
    define: { BOSUN_VERSION: JSON.stringify(version), BOSUN_COMMIT: JSON.stringify(commit) },
    banner: REQUIRE,
    // Dependencies that want to talk would do so on our stdout.
    drop: ['console'],
    // These are found where npm has put them, or not at all: a program for each platform, and clients of queues.
    external: ['@vscode/ripgrep', 'bullmq', 'ioredis', 'pg'],
    plugins: [lightSdk, lateImports, noSpawner, noValidator, reportPage, presets, ...plugins],
    ...more,
  });

const [program, library] = await Promise.all([
  bundle('cli', 'src/cli/main.ts', {
    plugins: [readyValidators(schemas, root)],
    sourcemap: 'inline',
    write: false,
    banner: {},
  }),
  // The library reads few transcripts: their validator would only make it larger.
  bundle('index', 'src/index.ts', { plugins: [readyValidators(schemas, root, { except: ['transcript'] })] }),
]);
const gathered = await gather(
  program,
  [
    'cli',
    ['cli/program', 'cli/other-commands'],
    'cli/redaction',
    'cli/check-policy',
    'cli/perform-run',
    'cli/read-part',
    'cli/shell',
  ],
  {
    ...common,
    sourcemap: 'linked',
    ...PIECE,
  },
);
mkdirSync(`${root}dist/cli`);
const id = createHash('sha256');
for (const { path, contents } of gathered) {
  writeFileSync(path, contents);
  if (path.endsWith('.js')) id.update(contents);
}
writeFileSync(`${root}dist/build-id`, id.digest('hex').slice(0, 16));

const notices = thirdPartyNotices([program.metafile, library.metafile], root);
writeFileSync(`${root}dist/THIRD-PARTY-NOTICES.txt`, notices);

const shipped = {
  transcript: schemas.transcript,
  policy: schemas.policy,
  batch: schemas.batch,
  'batch-journal': schemas.journal,
  'batch-results': schemas.results,
  'confirmation-request': schemas.confirmationRequest,
  'approval-answer': schemas.approvalAnswer,
  findings: schemas.findings,
};
for (const [name, schema] of Object.entries(shipped)) {
  writeFileSync(`${root}dist/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`);
}

await keepCompiled(root);
