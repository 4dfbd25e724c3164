// The script and the stylesheet of an HTML report, as a module that holds them as text. The build and jest put it in
// the place of the assets.ts that stands beside their folders.
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';

/** Matches the paths of the files that it stands for. */
export const PAGE_ASSETS = /reporters[\\/]html[\\/]assets\.ts$/;

/** All browsers that unpack streams and know light-dark(). */
const target = ['chrome123', 'firefox120', 'safari17.5'];

function textOf(entry) {
  const { outputFiles } = buildSync({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'iife',
    target,
    write: false,
    logLevel: 'warning',
  });
  const { text } = outputFiles[0];
  // An element of the page would end there.
  if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error(`${entry} would break out of its element`);
  return text;
}

export function pageAssets(path) {
  const script = textOf(join(dirname(path), 'client/main.ts'));
  const style = textOf(join(dirname(path), 'style/page.css'));
  return `export const SCRIPT = ${JSON.stringify(script)};\nexport const STYLE = ${JSON.stringify(style)};\n`;
}

/** The pages travel in the program. */
export const reportPage = {
  name: 'report-page',
  setup({ onLoad }) {
    onLoad({ filter: PAGE_ASSETS }, ({ path }) => ({ contents: pageAssets(path), loader: 'js' }));
  },
};
