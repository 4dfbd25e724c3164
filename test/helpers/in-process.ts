import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildTask, run, type RunRequest } from '../../src/index.js';
import type { Script } from './gemini-server.mjs';
import { serverEnv, type Scratch } from './run-cli.js';
import { place, serve, type Server } from './served.js';

/** One run under a policy as a library makes it: for what does not depend on a process of its own, at a tenth of the cost. */
export async function runUnder(
  policy: string,
  script: Script,
  more: Partial<RunRequest> = {},
  where: Scratch = place(),
): Promise<{ readonly code: number; readonly server: Server; readonly place: Scratch }> {
  const file = join(where.root, 'policy.yaml');
  writeFileSync(file, policy);
  const server = await serve(script);
  const { exit_code } = await run({
    cwd: where.workspace,
    model: 'gemini-test',
    policies: [file],
    readTask: async () => buildTask('do it', []),
    variables: serverEnv(server, where),
    transcript: where.transcript,
    ...more,
  });
  return { code: exit_code, server, place: where };
}
