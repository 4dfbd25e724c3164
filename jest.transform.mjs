import { createHash } from 'node:crypto';
import { transformSync } from 'esbuild';
import { PAGE_ASSETS, pageAssets } from './build/report-page.mjs';

/** TypeScript for jest: types are checked by `npm run check`, here they are only removed. */
export default {
  process(source, path) {
    return transformSync(PAGE_ASSETS.test(path) ? pageAssets(path) : source, {
      loader: 'ts',
      format: 'esm',
      target: 'node20',
      sourcemap: 'both',
      sourcefile: path,
    });
  },

  /** The page's assets are fresh only as long as the files are that they are made of. */
  getCacheKey(source, path) {
    const made = PAGE_ASSETS.test(path) ? pageAssets(path) : '';
    return createHash('sha256').update([source, path, made].join('\0')).digest('hex');
  },
};
