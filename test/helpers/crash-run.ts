import { readFileSync } from 'node:fs';
import { readTranscript } from '../../src/transcript/reader.js';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { call, startGeminiServer, text, type LoggedRequest } from './gemini-server.mjs';
import type { Random } from './random.js';
import { fileIn, ofType, runArgs, scratch, serverEnv, startCli, type Scratch } from './run-cli.js';

const TURNS = 20;
/** About as long as it takes to begin, and as a turn takes. */
const START_MS = 200;
const TURN_MS = 60;
/** So many times each run is killed for certain: it gets no last answer before. */
export const SURE_KILLS = 2;
const slots = Array.from({ length: TURNS }, (_, n) => n);

/** What the model says in its n-th turn: three calls, all of which change something; 60 in the whole run. */
function turn(n: number) {
  if (n >= TURNS) return { parts: [text('All done.')] };
  const old_string = `slot ${n}: empty\n`;
  return {
    parts: [
      call('run_shell_command', { command: `echo ${n} >> log; sleep 0.0${n % 4}` }, { id: `shell-${n}` }),
      call('write_file', { file_path: `files/${n}.txt`, content: `file ${n}\n` }, { id: `write-${n}` }),
      call(
        'replace',
        { file_path: 'slots', old_string, new_string: `slot ${n}: full\n` },
        { id: `replace-${n}` },
      ),
    ],
  };
}

export interface CrashRun {
  readonly kills: number;
  /** Calls that the model was told of as interrupted. */
  readonly interrupted: readonly string[];
  /** What is wrong with what came of it; empty if nothing is. */
  readonly faults: readonly string[];
}

/** One run of 60 calls that is killed again and again, at moments that `random` chooses, and resumed until it is done. */
export async function crashRun(random: Random): Promise<CrashRun> {
  const faults: string[] = [];
  let said = 0;
  let isDoomed = false;
  let onRequest = () => {};
  const server = await startGeminiServer((request) => {
    faults.push(...unanswered(request));
    onRequest();
    said = request.body.contents.filter(({ role }: { role: string }) => role === 'model').length;
    return isDoomed && said >= TURNS ? { hang: true } : turn(said);
  });
  const where = scratch({ slots: slots.map((n) => `slot ${n}: empty\n`).join('') });
  const env = serverEnv(server, where);
  try {
    let kills = 0;
    for (let part = 0; ; part++) {
      const state = part === 0 ? 'nothing' : stateOf(where);
      // Killed on its way out, when everything was said.
      if (state === 'finished') break;
      const args =
        state === 'begun'
          ? ['resume', where.transcript]
          : runArgs(where, ['-p', 'Fill all slots.', '--mode', 'yolo']);
      const { child, done } = startCli(args, { env });
      let timer: NodeJS.Timeout | undefined;
      const killWithin = (ms: number) => {
        timer = setTimeout(() => child.kill('SIGKILL'), random.below(ms));
      };
      onRequest = () => {};
      // Fewer and fewer kills, so that it comes to an end. When is told by its requests: machines differ in speed.
      isDoomed = kills < SURE_KILLS;
      if (isDoomed || random.chance(0.9 ** part)) {
        let left = random.below(TURNS - said + (isDoomed ? 1 : 2));
        if (left === 0) killWithin(START_MS);
        else
          onRequest = () => {
            if (--left === 0) killWithin(TURN_MS);
          };
      }
      const { code, signal, stderr } = await done;
      clearTimeout(timer);
      if (signal === 'SIGKILL') kills++;
      else if (code === 0) break;
      else {
        faults.push(`part ${part} ended with ${code}: ${stderr}`);
        break;
      }
    }
    const { message, valid } = await verifyTranscript(where.transcript);
    if (!valid) faults.push(message);
    const { interrupted, faults: found } = compare(where);
    return { kills, interrupted, faults: [...faults, ...found] };
  } finally {
    await server.close();
    where.remove();
  }
}

/** What a killed run left behind; one that had asked nothing yet is simply run again. */
function stateOf(where: Scratch): 'nothing' | 'begun' | 'finished' {
  try {
    const { lines, result } = readTranscript(where.transcript);
    if (result) return 'finished';
    return ofType([...lines], 'message').length > 0 ? 'begun' : 'nothing';
  } catch {
    return 'nothing';
  }
}

/** Every call of every turn must have one response, in order, in the message after it. */
function unanswered({ body }: LoggedRequest): string[] {
  const contents = body.contents as {
    role: string;
    parts: { functionCall?: { id: string }; functionResponse?: { id: string } }[];
  }[];
  return contents.flatMap(({ role, parts }, i) => {
    if (role !== 'model') return [];
    const calls = parts.flatMap(({ functionCall }) => functionCall?.id ?? []);
    const answers = (contents[i + 1]?.parts ?? []).flatMap(
      ({ functionResponse }) => functionResponse?.id ?? [],
    );
    return calls.join() === answers.join() ? [] : [`${calls.join()} were answered by ${answers.join()}`];
  });
}

/** Holds the workspace against what the transcript says was done. */
function compare(where: Scratch): Pick<CrashRun, 'interrupted' | 'faults'> {
  const { lines } = readTranscript(where.transcript);
  const results = ofType([...lines], 'tool_result');
  const interrupted = results.filter(({ error }) => error?.type === 'unknown').map(({ tool_id }) => tool_id);
  const faults: string[] = [];
  const ids = results.map(({ tool_id }) => tool_id);
  if (new Set(ids).size !== ids.length || ids.length !== TURNS * 3)
    faults.push(`results for ${ids.join(' ')}`);
  const log = (fileIn(where, 'log') ?? '').split('\n').filter(Boolean);
  const filled = readFileSync(`${where.workspace}/slots`, 'utf8');
  for (const n of slots) {
    const happened = {
      shell: log.filter((line) => line === String(n)).length,
      write: Number(fileIn(where, `files/${n}.txt`) === `file ${n}\n`),
      replace: Number(filled.includes(`slot ${n}: full\n`)),
    };
    for (const [kind, times] of Object.entries(happened)) {
      const id = `${kind}-${n}`;
      const status = results.find(({ tool_id }) => tool_id === id)?.status;
      if (times > 1) faults.push(`${id} happened ${times} times`);
      if (status === 'success' && times === 0) faults.push(`${id} is called finished, but did not happen`);
      if (times === 0 && !interrupted.includes(id)) faults.push(`${id} is missing, and nobody was told`);
    }
  }
  return { interrupted, faults };
}
