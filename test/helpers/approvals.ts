import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfirmationRequest } from '../../src/protocol/approval.js';
import type { Script } from './gemini-server.mjs';
import { runUnder } from './in-process.js';
import { place, type Server } from './served.js';
import type { Scratch } from './run-cli.js';

/** A policy that asks an approver, written in JavaScript, beside the workspace. `request` is what it is asked. */
export function approverPolicy(
  where: Scratch,
  code: string,
  { mode = 'manual', more = '', timeout = '20s' } = {},
) {
  const file = join(where.root, 'approver.mjs');
  const log = join(where.root, 'asked.jsonl');
  writeFileSync(
    file,
    `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
    const input = readFileSync(0, 'utf8');
    const request = JSON.parse(input);
    appendFileSync(${JSON.stringify(log)}, input);
    const answer = (selected_option_id, more = {}) =>
      console.log(JSON.stringify({ tool_call_id: request.tool_call_id, selected_option_id, ...more }));
    ${code}`,
  );
  const command = JSON.stringify([process.execPath, file]);
  return `version: 1\nmode: ${mode}\non_ask: { command: ${command}, timeout: ${timeout} }\n${more}`;
}

/** One run whose approver is this code. */
export async function approvedBy(
  code: string,
  script: Script,
  { files = {}, ...options }: Parameters<typeof approverPolicy>[2] & { files?: Record<string, string> } = {},
) {
  const where = place(files);
  return runUnder(approverPolicy(where, code, options), script, {}, where);
}

/** What the model was told about the calls of its n-th turn, by id. */
export function toldOf(
  server: Server,
  turn = 0,
): Record<string, { output?: string; error?: string; type?: string }> {
  const parts = server.requests[turn + 1]?.body.contents.at(-1).parts ?? [];
  return Object.fromEntries(
    parts.map(({ functionResponse }: { functionResponse: { id: string; response: object } }) => [
      functionResponse.id,
      functionResponse.response,
    ]),
  );
}

export type Asked = ConfirmationRequest;
