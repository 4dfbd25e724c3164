import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REPOSITORY } from './run-cli.js';

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** The sources and packages that a process has loaded, by way of the pieces of the bundle. Node tells which those are. */
export async function sourcesLoaded(
  start: (env: Record<string, string>) => Promise<unknown>,
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bosun-loaded-'));
  try {
    await start({ NODE_V8_COVERAGE: folder });
    const scripts = readdirSync(folder).flatMap((name) => {
      const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage;
      return result.map(({ url }) => url);
    });
    return [...new Set(scripts.filter((url) => url.includes('/dist/')).flatMap(sourcesOf))].sort();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** All that the program is built of. */
export function sourcesBuilt(): string[] {
  const pieces = readdirSync(join(REPOSITORY, 'dist/cli')).filter((name) => name.endsWith('.js.map'));
  return pieces.flatMap((name) => sourcesIn(join(REPOSITORY, 'dist/cli', name)));
}

function sourcesOf(piece: string): string[] {
  return sourcesIn(`${fileURLToPath(piece)}.map`);
}

function sourcesIn(map: string): string[] {
  const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { readonly sources: readonly string[] };
  return sources.map((source) => source.replace(/^(?:\.\.\/)+/, ''));
}
