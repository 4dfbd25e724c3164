import { expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bound } from '../helpers/bounds.js';
import { text } from '../helpers/gemini-server.mjs';
import { behaving, policyWith } from '../helpers/mcp.js';
import { eventsOf, ofType, runAgainst } from '../helpers/run-cli.js';
import { bosunUnder, place, serve } from '../helpers/served.js';

const done = { parts: [text('Done.')] };
/** Words that stand in what is loaded for servers, and nowhere else. */
const MARKS = {
  sdk: 'io.modelcontextprotocol/',
  watchdog: '/proc/[0-9]*/environ',
  results: 'structuredContent',
};

function marksIn(text: string): string[] {
  return Object.entries(MARKS).flatMap(([name, mark]) => (text.includes(mark) ? [name] : []));
}

test('a run whose policy names no servers loads nothing for them', async () => {
  expect(marksIn(await loadedUnder('version: 1\n'))).toEqual([]);
  expect(marksIn(await loadedUnder(policyWith({ s: { command: ['no-such-program'] } })))).toEqual([]);
  expect(marksIn(await loadedUnder(policyWith({ s: behaving('well') })))).toEqual(Object.keys(MARKS));
});

/** The text of every file of the bundle that a run has loaded. */
async function loadedUnder(policy: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bosun-loaded-'));
  try {
    const where = place();
    writeFileSync(join(where.root, 'policy.yaml'), policy);
    const model = await serve([done]);
    const args = ['--policy', join(where.root, 'policy.yaml'), '-p', 'do it'];
    const { code } = await runAgainst(model, where, args, { env: { NODE_V8_COVERAGE: folder } });
    expect(code).toBe(0);
    const [report] = readdirSync(folder);
    const { result } = JSON.parse(readFileSync(join(folder, report as string), 'utf8'));
    const files = (result as { url: string }[]).map(({ url }) => url).filter((url) => url.includes('/dist/'));
    return files.map((url) => readFileSync(fileURLToPath(url), 'utf8')).join('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('ten servers connect at once', async () => {
  const slow = 1500;
  const names = Array.from({ length: 10 }, (_, i) => `s${i}`);
  const servers = Object.fromEntries(names.map((name) => [name, behaving('slow', String(slow))]));
  const { place: where } = await bosunUnder(policyWith(servers), [done]);
  const latencies = ofType(eventsOf(where), 'init')[0]?.mcp_servers.map(({ latency_ms }) => latency_ms) ?? [];
  expect(latencies).toHaveLength(10);
  expect(Math.min(...latencies)).toBeGreaterThanOrEqual(slow);
  // One after the other would be ten times as long.
  bound(Math.max(...latencies), slow * 5);
  expect(Math.max(...latencies)).toBeLessThan(slow * names.length);
});
