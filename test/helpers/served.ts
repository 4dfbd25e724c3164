import { afterEach } from '@jest/globals';
import { startGeminiServer, type Script } from './gemini-server.mjs';
import { runAgainst, scratch, type CliOptions, type CliResult, type Scratch } from './run-cli.js';

export type Server = Awaited<ReturnType<typeof startGeminiServer>>;

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

export function place(files: Readonly<Record<string, string | Buffer>> = {}): Scratch {
  const made = scratch(files);
  cleanUps.push(made.remove);
  return made;
}

export async function serve(script: Script): Promise<Server> {
  const server = await startGeminiServer(script);
  cleanUps.push(server.close);
  return server;
}

export interface Served extends CliResult {
  readonly server: Server;
  readonly place: Scratch;
}

/** One `bosun run` against one script, in a workspace of its own. */
export async function bosunRun(
  script: Script,
  args: readonly string[],
  files: Readonly<Record<string, string | Buffer>> = {},
  options: CliOptions = {},
): Promise<Served> {
  const server = await serve(script);
  const where = place(files);
  const prompt = args.includes('-p') || options.input !== undefined ? [] : ['-p', 'do it'];
  const result = await runAgainst(server, where, [...args, ...prompt], options);
  return { ...result, server, place: where };
}
