import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TaskEndEvent } from '../../src/batch/journal/event.js';
import { queueAddress } from '../../src/fleet/address.js';
import { Fleet, type QueuedJob } from '../../src/fleet/fleet.js';
import { pieceName, type ResultNote, type TaskJob } from '../../src/fleet/job.js';
import { packPieces, PIECE_BYTES, pieceHash } from '../../src/fleet/pack.js';
import { sha256 } from '../../src/lib/ids.js';
import {
  batchFile,
  commitAll,
  journalled,
  lastResult,
  outOf,
  promptOf,
  resultsIn,
  runBatch,
  turnOf,
} from '../helpers/batch.js';
import { coordinate } from '../helpers/fleet.js';
import { call, text, type LoggedRequest } from '../helpers/gemini-server.mjs';
import { QUEUE_SERVERS, startQueueServer, type QueueServer } from '../helpers/queue-server.js';
import { runCli, type Scratch } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';
import { until } from '../helpers/until.js';

shareProcess();

const LONG = 60_000;
const WORD = 'ab'.repeat(8);

/** What an honest worker would send of one task, for an attacker to change. */
interface Sending {
  readonly job: TaskJob;
  end: Record<string, unknown>;
  patch: string | undefined;
  transcript: string | undefined;
  /** Further files of the pack. */
  more: Record<string, string>;
  note: Record<string, unknown>;
  /** In place of the pack. */
  pieces?: Buffer[];
}

const newFile = (name: string, mode = '100644', content = 'evil') =>
  [
    `diff --git a/${name} b/${name}`,
    `new file mode ${mode}`,
    '--- /dev/null',
    `+++ b/${name}`,
    '@@ -0,0 +1 @@',
    `+${content}`,
    ...(mode === '120000' ? ['\\ No newline at end of file'] : []),
    '',
  ].join('\n');
const patched = (patch: string) => (sending: Sending) => {
  sending.patch = patch;
  const seal = sending.end['seal'] as object;
  sending.end['seal'] = { ...seal, patch: sha256(patch) };
};
const moved = [
  'diff --git a/.envrc b/harmless',
  'similarity index 100%',
  'rename from .envrc',
  'rename to harmless',
  '',
];

/** What an attacker sends, and what is said of it; undefined: it is taken. */
const TRICKS: Record<string, readonly [(sending: Sending) => void, string | undefined]> = {
  // Whoever lies well is believed; this one is honest.
  honest: [() => {}, undefined],
  above: [patched(newFile('../escaped')), '../escaped is not in the repository'],
  absolute: [patched(newFile('/tmp/bosun-escaped')), '/tmp/bosun-escaped is not in the repository'],
  hook: [patched(newFile('.git/hooks/post-checkout', '100755')), '.git/hooks/post-checkout is protected'],
  nested: [patched(newFile('sub/.GIT/config')), 'sub/.GIT/config is protected'],
  workflow: [patched(newFile('.github/workflows/x.yml')), '.github/workflows/x.yml is protected'],
  policy: [
    patched(newFile('policy.yaml').replace('new file mode 100644\n--- /dev/null', '--- a/policy.yaml')),
    'policy.yaml is protected',
  ],
  moved: [patched(moved.join('\n')), '.envrc is protected'],
  nonsense: [patched('no patch at all\n'), 'its patch cannot be read'],
  link: [patched(newFile('link', '120000', '..')), undefined],
  'link-2': [patched(newFile('link/escaped')), undefined],
  unsealed: [
    (sending) => void (sending.patch += '\n'),
    'its patch or its transcript is not what its worker sealed',
  ],
  unpatched: [(sending) => void (sending.patch = undefined), 'its patch is missing'],
  untold: [(sending) => void (sending.transcript = undefined), 'its transcript is not valid'],
  bare: [
    (sending) => {
      Object.assign(sending.end, { transcript: null, patch: null });
      delete sending.end['seal'];
    },
    'its transcript is missing',
  ],
  cut: [
    (sending) => void (sending.transcript = (sending.transcript ?? '').replace('"seq":2', '"seq":3')),
    'its transcript is not valid',
  ],
  lie: [(sending) => void (sending.end['exit_code'] = 5), 'its exit code does not match its status'],
  'other-id': [(sending) => void (sending.end['id'] = '../../x'), 'its end is that of another task'],
  'other-task': [(sending) => void (sending.note['job'] = 'a.b.1'), 'it belongs to another task'],
  'other-attempt': [(sending) => void (sending.note['attempt'] = 2), 'its end is that of another task'],
  future: [(sending) => void (sending.note['attempt'] = 5000), 'it belongs to another attempt'],
  polluting: [
    (sending) => {
      sending.end = JSON.parse(`{"__proto__":{"polluted":1},${JSON.stringify(sending.end).slice(1)}`);
    },
    'its end cannot be used',
  ],
  'polluting-note': [
    (sending) => {
      sending.note = JSON.parse(`{"__proto__":{"polluted":1},${JSON.stringify(sending.note).slice(1)}`);
    },
    'the note about it cannot be used',
  ],
  names: [(sending) => void (sending.more['../../escaped'] = 'x'), 'it has a file that no worker packs'],
  deep: [
    (sending) => void (sending.more['transcript.jsonl.d/../../../escaped'] = 'x'),
    'it has a file that no worker packs',
  ],
  hidden: [(sending) => void (sending.more['.part'] = 'x'), 'it has a file that no worker packs'],
  bomb: [
    (sending) => {
      const head = `${JSON.stringify({ name: 'transcript.jsonl.d/bomb', size: 2 ** 31 })}\n`;
      sending.pieces = [gzipSync(Buffer.concat([Buffer.from(head), Buffer.alloc(2 ** 20)]))];
    },
    'it unpacks to more than',
  ],
  garbage: [(sending) => void (sending.pieces = [Buffer.from('no gzip')]), 'incorrect header check'],
  huge: [(sending) => void (sending.pieces = [Buffer.alloc(PIECE_BYTES + 1)]), 'piece 1 of 1 is too large'],
  empty: [(sending) => void (sending.more['transcript.jsonl.d/nothing'] = ''), undefined],
};
const ids = Object.keys(TRICKS);

function batchIn(where: Scratch, name: string, prompt: string): string {
  return batchFile(
    where,
    [
      'version: 1',
      `name: ${name}`,
      `prompt: ${prompt}`,
      `tasks: {list: [${ids.map((id) => `{id: ${id}, n: ${id}}`).join(', ')}]}`,
      'policy: [workspace/policy.yaml]',
      'workspace: {isolation: clone}',
      'attempts: 1',
      'integrate: apply',
    ].join('\n'),
    `${name}.yaml`,
  );
}

describe.each(QUEUE_SERVERS.slice(0, 1))('a worker that lies, on %s', (kind) => {
  let queue: QueueServer;
  let fleet: Fleet;
  beforeAll(async () => {
    queue = await startQueueServer(kind);
    fleet = await Fleet.open(queueAddress(queue.url), () => {});
  }, LONG);
  afterAll(async () => {
    await fleet.close();
    await queue.stop();
  });

  /** Puts a result down as a worker does. */
  async function send(sending: Sending, folder: string): Promise<ResultNote> {
    const { job, end, patch, transcript, more, note } = sending;
    mkdirSync(folder, { recursive: true });
    const texts = {
      'end.json': JSON.stringify(end),
      'transcript.jsonl': transcript,
      'changes.patch': patch,
      ...more,
    };
    const files = Object.entries(texts).flatMap(([name, content]) => {
      if (content === undefined) return [];
      const path = join(folder, sha256(name));
      writeFileSync(path, content);
      return [{ name, path, size: Buffer.byteLength(content) }];
    });
    const hash = pieceHash();
    let index = 0;
    for await (const piece of sending.pieces ?? packPieces(files)) {
      hash.add(piece);
      const jobId = pieceName({ job: String(note['job']), word: WORD }, index++);
      await fleet.shelf(job.batch).add('piece', { data: piece.toString('base64') }, { jobId });
    }
    return { ...note, ...hash.note() } as never;
  }

  test(
    'gets nothing into the folder or the workspace but what its task could have come to',
    async () => {
      const where = place({
        'a.txt': 'a\n',
        '.envrc': 'true\n',
        'policy.yaml': 'version: 1\nmode: auto_edit\n',
      });
      commitAll(where);
      const model = await serve((request: LoggedRequest) =>
        turnOf(request) === 1
          ? { parts: [call('write_file', { file_path: 'new.txt', content: 'as ordered\n' })] }
          : { parts: [text(`answer to ${promptOf(request)}`)] },
      );
      // What is true, from a batch of this machine alone.
      const truth = join(where.root, 'truth');
      const local = ['--out', truth, '--only', 'honest'];
      const file = batchIn(where, 'lies', 'Change it');
      const own = readFileSync(file, 'utf8');
      const plain = batchFile(where, own.replace('integrate: apply', 'integrate: none'), 'plain.yaml');
      expect((await runBatch(model, where, [plain, ...local])).code).toBe(0);
      const read = (name: string) => readFileSync(join(truth, 'tasks/honest/1', name), 'utf8');
      const line = readFileSync(join(truth, 'journal.jsonl'), 'utf8')
        .split('\n')
        .find((each) => each.includes('"type":"task_end"'));
      const { v, seq, timestamp, batch_id, prev, ...end } = JSON.parse(line ?? '') as TaskEndEvent &
        Record<string, unknown>;
      expect([v, typeof seq, typeof timestamp, typeof batch_id, typeof prev].length).toBe(5);

      const taken: string[] = [];
      let accepted: { data: TaskJob; id: string } | undefined;
      const process = async (queued: QueuedJob) => {
        const job = queued.data as TaskJob;
        const isAgain = taken.includes(job.id);
        taken.push(job.id);
        if (job.id === 'honest') accepted = { data: job, id: queued.id ?? '' };
        const sending: Sending = {
          job,
          end: { ...end, id: job.id, key: job.key, attempt: job.attempt },
          patch: read('changes.patch'),
          transcript: read('transcript.jsonl'),
          more: {},
          note: {
            ...{ v: 1, job: queued.id, attempt: job.attempt, worker: 'evil', word: WORD },
            left: { files: 0, bytes: 0 },
          },
        };
        TRICKS[job.id]?.[0](sending);
        // The message of a result that is in the folder already comes again, with something else in it.
        if (isAgain) patched(newFile('again'))(sending);
        if (job.id === ids.at(-1) && accepted) {
          const isIn = () => journalled(where, 'task_end').some(({ id }) => id === 'honest');
          await until(isIn, 'the honest result', LONG);
          const { data, id } = accepted;
          while (await fleet.tasks.getJob(id)) await new Promise((resolve) => setTimeout(resolve, 20));
          await fleet.tasks.add('task', data, { jobId: id });
          while (!(await (await fleet.tasks.getJob(id))?.isCompleted()))
            await new Promise((resolve) => setTimeout(resolve, 20));
          // Whoever sweeps finds it.
          await new Promise((resolve) => setTimeout(resolve, 1500));
        }
        return send(sending, join(where.root, 'evil', job.id));
      };
      const evil = fleet.worker({ concurrency: 4, lockMs: 5000, process });
      void evil.run();
      const { code } = await coordinate(queue, model, where, [file]);
      await evil.close();
      expect(code).toBe(13);
      expect(taken.filter((id) => id === 'honest')).toHaveLength(2);

      const notices = new Map(
        journalled(where, 'batch_notice')
          .filter((notice) => notice.code === 'result_refused')
          .map(({ task, message }) => [task, message]),
      );
      for (const [id, [, message]] of Object.entries(TRICKS))
        expect([id, notices.get(id)]).toEqual([
          id,
          message === undefined ? undefined : expect.stringContaining(message),
        ]);
      const states = Object.fromEntries(resultsIn(where).map(({ id, status }) => [id, status]));
      for (const [id, [, message]] of Object.entries(TRICKS))
        if (id !== 'link-2')
          expect([id, states[id]]).toEqual([id, message === undefined ? 'completed' : 'tool_infra_error']);
      // It would have gone through the link.
      expect(states['link-2']).toBe('unverified');
      expect(journalled(where, 'task_end').filter(({ id, ended }) => id === 'honest' && ended)).toHaveLength(
        1,
      );

      expect(readFileSync(join(where.workspace, 'new.txt'), 'utf8')).toBe('as ordered\n');
      for (const path of [
        'again',
        'harmless',
        'sub',
        '.github',
        '.git/hooks/post-checkout',
        'escaped',
        '../escaped',
      ])
        expect([path, existsSync(join(where.workspace, path))]).toEqual([path, false]);
      for (const path of [
        join(dirname(where.root), 'escaped'),
        '/tmp/bosun-escaped',
        join(outOf(where), 'escaped'),
      ])
        expect(existsSync(path)).toBe(false);
      expect(readFileSync(join(where.workspace, 'policy.yaml'), 'utf8')).toContain('auto_edit');
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
      expect(lastResult(where).late_results).toBe(notices.size);
      expect((await runCli(['verify', outOf(where)])).code).toBe(0);
    },
    LONG,
  );
});
