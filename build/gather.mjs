// The bundler cuts a piece for every set of sharers, thirty of them for a run, and opening each takes time. This
// puts what is always loaded together into one file.
import { posix } from 'node:path';
import { build } from 'esbuild';

const { basename, dirname, join, relative } = posix;

/**
 * Gives the files to write. Each of `heads` takes in all that is loaded with it and was not before; in a list, the first
 * also takes in what the others would need of pieces that are loaded later.
 * @param {import('esbuild').BuildResult} bundle
 * @param {readonly (string | readonly string[])[]} heads names of pieces, in the order in which they are loaded
 * @param {import('esbuild').BuildOptions} options
 */
export async function gather(bundle, heads, options) {
  const pieces = piecesOf(bundle, options);
  const homes = new Map([...pieces.keys()].map((path) => [path, path]));
  const settled = new Set();
  for (const names of heads) {
    const [head, ...others] = [names].flat().map((name) => pieceNamed(name, pieces));
    const shared = others.flatMap((path) => [...loadedWith(path, pieces)]);
    for (const path of [...loadedWith(head, pieces), ...shared.filter((path) => !others.includes(path))]) {
      if (!settled.has(path)) homes.set(path, head);
      settled.add(path);
    }
  }
  const files = [...new Set(homes.values())];
  const written = await Promise.all(files.map((file) => merge(file, pieces, homes, options)));
  return written.flat();
}

/** What the bundler made: the text of each piece, what it exports, and which others are loaded with it. */
function piecesOf({ outputFiles, metafile }, { absWorkingDir, outdir }) {
  const texts = new Map(outputFiles.map(({ path, text }) => [relative(absWorkingDir, path), text]));
  return new Map(
    Object.entries(metafile.outputs).map(([path, { exports, imports }]) => [
      relative(outdir, path),
      {
        text: texts.get(path),
        exports,
        imports: imports
          .filter(({ kind, external }) => kind === 'import-statement' && !external)
          .map((one) => relative(outdir, one.path)),
      },
    ]),
  );
}

function pieceNamed(name, pieces) {
  const path = [...pieces.keys()].find((one) => one.replace(/(-\w+)?\.js$/, '') === name);
  if (path === undefined)
    throw new Error(`build.config.mjs names the piece ${name}, which the bundler did not make`);
  return path;
}

function loadedWith(path, pieces, seen = new Set()) {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const next of pieces.get(path).imports) loadedWith(next, pieces, seen);
  return seen;
}

/** One file with all pieces whose home it is. What others import of them gets a name of its own. */
async function merge(file, pieces, homes, options) {
  const guests = [...homes].filter(([path, home]) => home === file && path !== file).map(([path]) => path);
  const contents = [
    `export {${pieces.get(file).exports.join(', ')}} from 'own:${file}';`,
    ...guests.map((path) => `export {${renamed(path, pieces, 'from')}} from 'own:${path}';`),
  ].join('\n');
  const { outputFiles } = await build({
    ...options,
    stdin: { contents, resolveDir: options.absWorkingDir },
    outfile: join(options.outdir, file),
    outdir: undefined,
    bundle: true,
    write: false,
    plugins: [rewire(file, pieces, homes)],
  });
  return outputFiles;
}

/** `a as actions_a` for those who take a piece in, and the other way round for those who miss it. */
function renamed(path, pieces, direction) {
  const prefix = basename(path).replaceAll(/\W/g, '_');
  return pieces
    .get(path)
    .exports.map((name) =>
      direction === 'from' ? `${name} as ${prefix}_${name}` : `${prefix}_${name} as ${name}`,
    )
    .join(', ');
}

function rewire(file, pieces, homes) {
  const fromHere = (path) => {
    const way = relative(dirname(file), path);
    return way.startsWith('.') ? way : `./${way}`;
  };
  return {
    name: 'rewire',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^own:/ }, ({ path }) => ({ path: path.slice('own:'.length), namespace: 'own' }));
      onResolve({ filter: /^there:/ }, ({ path }) => ({
        path: fromHere(path.slice('there:'.length)),
        external: true,
      }));
      onResolve({ filter: /./ }, ({ path: name, importer, kind }) => {
        const path = join(dirname(importer), name);
        if (!name.startsWith('.') || !pieces.has(path)) return { path: name, external: true };
        const home = homes.get(path);
        // What is loaded late has never been taken in: the bundler gives it a piece that nobody else imports.
        if (home === path || kind === 'dynamic-import') return { path: fromHere(path), external: true };
        return { path, namespace: home === file ? 'own' : 'moved' };
      });
      onLoad({ filter: /./, namespace: 'own' }, ({ path }) => ({
        contents: pieces.get(path).text,
        loader: 'js',
      }));
      onLoad({ filter: /./, namespace: 'moved' }, ({ path }) => ({
        contents: `export {${renamed(path, pieces, 'to')}} from 'there:${homes.get(path)}';`,
      }));
    },
  };
}
