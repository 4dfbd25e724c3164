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
  const log = join(where.root, 'asked.jsonl');
  const [, option] = /^answer\('(\w+)'\)$/.exec(code) ?? [];
  const program = option ? inShell(where, log, option) : inNode(where, log, code);
  const command = JSON.stringify(program);
  return `version: 1\nmode: ${mode}\non_ask: { command: ${command}, timeout: ${timeout} }\n${more}`;
}

function inNode(where: Scratch, log: string, code: string): string[] {
  const file = join(where.root, 'approver.mjs');
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
  return [process.execPath, file];
}

/** One that always gives the same answer, which a shell does in a tenth of the time. */
function inShell(where: Scratch, log: string, option: string): string[] {
  const file = join(where.root, 'approver.sh');
  writeFileSync(
    file,
    `input=$(cat)
    printf '%s\\n' "$input" >> '${log}'
    id=\${input#*\\"tool_call_id\\":\\"}
    printf '{"tool_call_id":"%s","selected_option_id":"${option}"}' "\${id%%\\"*}"`,
  );
  return ['sh', file];
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
