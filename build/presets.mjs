// The presets, read and checked when the program is built: their examples need the grammar of Bash, and every run with a
// preset would wait for it. They stand in the place of `src/policy/ready-presets.ts`.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadSources } from './schemas.mjs';

const ENTRY = `
  export { loadPolicy } from './src/policy/load.ts';
  export { readPart } from './src/policy/read-part.ts';
  export { keptPart } from './src/policy/ready-part.ts';`;

/**
 * Throws what is wrong with a preset.
 * @param {string} root
 */
export async function readyPresets(root) {
  const { loadPolicy, readPart, keptPart } = await loadSources(root, ENTRY);
  const presets = join(root, 'policies');
  const ready = {};
  for (const name of readdirSync(presets).sort()) {
    const file = join(presets, name);
    await loadPolicy(file, { folder: presets, presets });
    const part = await readPart(file);
    ready[part.sha256] = keptPart(part);
  }
  return {
    name: 'ready-presets',
    setup({ onLoad }) {
      onLoad({ filter: /policy[\\/]ready-presets\.ts$/ }, () => ({
        contents: `export const PRESETS = ${JSON.stringify(ready)};`,
        loader: 'js',
      }));
    },
  };
}
