// The schemas of the sources, for the build: they are written in TypeScript, so they are bundled and loaded.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ENTRY = `
  export { TRANSCRIPT_SCHEMA } from './src/transcript/schema.ts';
  export { POLICY_SCHEMA } from './src/policy/schema.ts';
  export { BATCH_SCHEMA } from './src/batch/file/schema.ts';
  export { JOURNAL_SCHEMA, RESULTS_SCHEMA } from './src/batch/journal/schema.ts';
  export { FINDINGS_SCHEMA } from './src/protocol/findings.ts';
  export * from './src/protocol/approval-schema.ts';
  import { builtinTools } from './src/tools/builtin.ts';
  export const TOOLS = builtinTools({ workspace: '/', environment: {} });`;

/** @param {string} root */
export async function loadSchemas(root) {
  const sources = await loadSources(root, ENTRY);
  return {
    transcript: sources.TRANSCRIPT_SCHEMA,
    policy: sources.POLICY_SCHEMA,
    batch: sources.BATCH_SCHEMA,
    journal: sources.JOURNAL_SCHEMA,
    results: sources.RESULTS_SCHEMA,
    confirmationRequest: sources.CONFIRMATION_REQUEST_SCHEMA,
    approvalAnswer: sources.APPROVAL_ANSWER_SCHEMA,
    findings: sources.FINDINGS_SCHEMA,
    tools: Object.fromEntries(sources.TOOLS.map(({ name, parameters }) => [name, parameters])),
  };
}

/**
 * What a module exports that may import the sources.
 * @param {string} root
 * @param {string} contents
 * @param {import('esbuild').Plugin[]} [plugins]
 */
export async function loadSources(root, contents, plugins = []) {
  const folder = mkdtempSync(join(tmpdir(), 'bosun-build-'));
  const outfile = join(folder, 'sources.mjs');
  try {
    await build({
      absWorkingDir: root,
      stdin: { contents, resolveDir: root },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      plugins,
      logLevel: 'warning',
      external: ['@vscode/ripgrep', 'bullmq', 'ioredis', 'pg'],
      define: { BOSUN_VERSION: '""', BOSUN_COMMIT: '""' },
      // Some of what is bundled is CommonJS and asks for Node's modules at run time.
      banner: { js: "import{createRequire}from'node:module';const require=createRequire('/');" },
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
