import { transformSync } from 'esbuild';

/** TypeScript for jest: types are checked by `npm run check`, here they are only removed. */
export default {
  process(source, path) {
    return transformSync(source, {
      loader: 'ts',
      format: 'esm',
      target: 'node20',
      sourcemap: 'both',
      sourcefile: path,
    });
  },
};
