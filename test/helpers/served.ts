import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** The same under a policy that is written beside the workspace. */
export async function bosunUnder(
  policy: string,
  script: Script,
  args: readonly string[] = [],
  where: Scratch = place(),
): Promise<Served & { readonly file: string }> {
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, policy);
  const server = await serve(script);
  const result = await runAgainst(server, where, ['--policy', file, '-p', 'do it', ...args]);
  return { ...result, server, place: where, file };
}

/** The texts of the first message, as the model got it. */
export function firstTexts(server: Server): string[] {
  const parts: { text: string }[] = server.requests[0]?.body.contents[0].parts ?? [];
  return parts.map(({ text }) => text);
}

export function offeredBy(server: Server): string[] {
  return server.requests[0]?.body.tools?.[0].functionDeclarations.map(({ name }: { name: string }) => name);
}
