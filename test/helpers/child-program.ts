import { build } from 'esbuild';
import { REPOSITORY } from './run-cli.js';

/** Makes a program of a piece of TypeScript that imports from `./src`, to be run as a process of its own. */
export async function buildProgram(source: string, outfile: string): Promise<string> {
  await build({
    stdin: { contents: source, resolveDir: REPOSITORY, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    logLevel: 'error',
  });
  return outfile;
}
