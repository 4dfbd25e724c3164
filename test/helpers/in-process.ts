import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as library from '../../src/index.js';
import type { RunRequest } from '../../src/index.js';
import type { Script } from './gemini-server.mjs';
import { serverEnv, type Scratch } from './run-cli.js';
import { place, serve, type Server } from './served.js';

/** See jest.environment.mjs. */
declare const bosunLibrary: () => Promise<typeof library>;

/** The library as it is built, and loaded once for many suites. */
export const builtLibrary = (): Promise<typeof library> => bosunLibrary();

export interface InProcess {
  readonly code: number;
  readonly server: Server;
  readonly place: Scratch;
  /** The policy. */
  readonly file: string;
}

/** One run under a policy as a library makes it: for what does not depend on a process of its own, at a tenth of the cost. */
export async function runUnder(
  policy: string,
  script: Script,
  more: Partial<RunRequest> = {},
  where: Scratch = place(),
): Promise<InProcess> {
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, policy);
  const server = await serve(script);
  const code = await codeOf(server, where, { policies: [file], ...more });
  return { code, server, place: where, file };
}

/** The same without a policy. */
export async function runHere(
  script: Script,
  more: Partial<RunRequest> = {},
  files: Readonly<Record<string, string | Buffer>> = {},
): Promise<Omit<InProcess, 'file'>> {
  const where = place(files);
  const server = await serve(script);
  const code = await codeOf(server, where, more);
  return { code, server, place: where };
}

async function codeOf(server: Server, where: Scratch, more: Partial<RunRequest>): Promise<number> {
  const { buildTask, run } = await builtLibrary();
  const { exit_code } = await run({
    cwd: where.workspace,
    model: 'gemini-test',
    readTask: async () => buildTask('do it', []),
    variables: serverEnv(server, where),
    transcript: where.transcript,
    ...more,
  });
  return exit_code;
}
