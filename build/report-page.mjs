// The script and the stylesheet of the HTML report, as a module that holds them as text. The build and jest put it in
// the place of src/reporters/html/assets.ts.
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const folder = fileURLToPath(new URL('../src/reporters/html/', import.meta.url));

/** Matches the path of the file that it stands for. */
export const PAGE_ASSETS = /reporters[\\/]html[\\/]assets\.ts$/;

/** All browsers that unpack streams and know light-dark(). */
const target = ['chrome123', 'firefox120', 'safari17.5'];

function textOf(entry) {
  const { outputFiles } = buildSync({
    entryPoints: [folder + entry],
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

export function pageAssets() {
  const script = textOf('client/main.ts');
  const style = textOf('style/page.css');
  return `export const SCRIPT = ${JSON.stringify(script)};\nexport const STYLE = ${JSON.stringify(style)};\n`;
}

/** The page travels in the program. */
export const reportPage = {
  name: 'report-page',
  setup({ onLoad }) {
    onLoad({ filter: PAGE_ASSETS }, () => ({ contents: pageAssets(), loader: 'js' }));
  },
};
