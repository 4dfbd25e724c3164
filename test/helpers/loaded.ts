import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

function sourcesOf(piece: string): string[] {
  const { sources } = JSON.parse(readFileSync(`${fileURLToPath(piece)}.map`, 'utf8')) as {
    readonly sources: readonly string[];
  };
  return sources.map((source) => source.replace(/^(?:\.\.\/)+/, ''));
}
