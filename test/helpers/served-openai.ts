import { afterEach } from '@jest/globals';
import { startOpenAiServer, type ChatScript } from './openai-server.mjs';
import { cleanEnv, runCli, scratch, type CliOptions, type CliResult, type Scratch } from './run-cli.js';

export const CHAT_KEY = 'sk-test-0123456789abcdef';

export interface ChatRun extends CliResult {
  readonly server: Awaited<ReturnType<typeof startOpenAiServer>>;
  readonly place: Scratch;
}

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** One `bosun run -m openai/…` against one script, in a workspace of its own; `inside` of it if asked to. */
export async function chatRun(
  script: ChatScript,
  args: readonly string[] = [],
  files: Readonly<Record<string, string | Buffer>> = {},
  options: CliOptions & { readonly inside?: boolean } = {},
): Promise<ChatRun> {
  const server = await startOpenAiServer(script);
  const place = scratch(files);
  cleanUps.push(server.close, place.remove);
  const env = cleanEnv(place.home, { OPENAI_API_KEY: CHAT_KEY, OPENAI_BASE_URL: server.url, ...options.env });
  const where = ['-C', place.workspace, '--transcript', place.transcript, '-m', 'openai/org/some-model:tag'];
  const prompt = args.includes('-p') ? [] : ['-p', 'Go.'];
  const cwd = options.inside ? { cwd: place.workspace } : {};
  const result = await runCli(['run', ...where, ...prompt, ...args], { ...options, ...cwd, env });
  return { ...result, server, place };
}
