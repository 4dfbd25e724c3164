// Records the batch of `bosun demo --batch` again: `node test/helpers/record-batch-demo.mjs`.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { call, startGeminiServer, text } from './gemini-server.mjs';

/** @type {Readonly<Record<string, string>>} */
const ANSWERS = {
  cart: 'It counts how many pieces of each product are in a cart; a negative quantity is taken without a word.',
  price: 'It writes cents as a price, but 105 becomes "1.5": single digits need a zero in front.',
  stock:
    'It tells whether enough of a product is there; a product that nobody knows counts as not available.',
  tax: 'It adds the tax and rounds to whole cents, but an unknown rate gives NaN instead of an error.',
};

const server = await startGeminiServer(({ body }) => {
  const [, name = ''] = /src\/(\w+)\.js/.exec(body.contents[0].parts[0].text) ?? [];
  if (body.contents.length === 1)
    return {
      parts: [call('read_file', { file_path: `src/${name}.js` })],
      usage: { promptTokenCount: 812, candidatesTokenCount: 18, totalTokenCount: 830 },
    };
  return {
    parts: [text(ANSWERS[name] ?? '')],
    usage: { promptTokenCount: 1020, candidatesTokenCount: 31, totalTokenCount: 1051 },
  };
});

const fixture = fileURLToPath(new URL('../../fixtures/demo/batch/', import.meta.url));
const workspace = join(tmpdir(), 'shop');
const out = mkdtempSync(join(tmpdir(), 'bosun-record-'));
rmSync(workspace, { recursive: true, force: true });
cpSync(join(fixture, 'project'), workspace, { recursive: true });
const bin = fileURLToPath(new URL('../../bin/bosun.js', import.meta.url));
const args = ['batch', 'run', join(fixture, 'batch.yaml'), '-C', workspace, '--out', out];
const env = {
  PATH: process.env['PATH'] ?? '',
  GEMINI_API_KEY: 'recorded',
  GOOGLE_GEMINI_BASE_URL: server.url,
};
const child = spawn(process.execPath, [bin, ...args], { env, stdio: ['ignore', 'inherit', 'inherit'] });
const code = await new Promise((resolve) => child.once('close', resolve));
await server.close();
if (code !== 0) throw new Error(`the recording ended with ${code}`);
mkdirSync(join(fixture, 'recordings'), { recursive: true });
for (const id of Object.keys(ANSWERS))
  writeFileSync(
    join(fixture, 'recordings', `${id}.jsonl`),
    readFileSync(join(out, 'tasks', id, '1', 'transcript.jsonl')),
  );
rmSync(workspace, { recursive: true, force: true });
rmSync(out, { recursive: true, force: true });
