import { call, text, type LoggedRequest, type Reply } from './gemini-server.mjs';
import type { Random } from './random.js';

/** Stands in everything that must not survive: parts of answers that broke. */
export const BROKEN = 'BROKEN';

interface Answer {
  readonly reply: Reply;
  /** It went out whole, and is an answer: its tokens count. */
  readonly tokens: number;
  /** What its calls write into the log, if the answer may be acted on. */
  readonly marks: readonly string[];
}

interface Given extends Answer {
  readonly request: LoggedRequest;
}

/** One run's conversation with a model and a network that are out of their minds. */
export class Chaos {
  readonly given: Given[] = [];
  readonly #random: Random;
  readonly #badness: number;
  #marks = 0;

  constructor(random: Random) {
    this.#random = random;
    this.#badness = random.pick([0.05, 0.3, 0.3, 0.6]);
  }

  answer(request: LoggedRequest): Reply {
    const answer = this.#random.chance(this.#badness) ? this.#mishap() : this.#turn();
    this.given.push({ ...answer, request });
    return answer.reply;
  }

  /** Tokens of the answers that somebody got. */
  get tokens(): number {
    return this.given.reduce((sum, { request, tokens }) => sum + (request.aborted ? 0 : tokens), 0);
  }

  get marks(): string[] {
    return this.given.flatMap(({ request, marks }) => (request.aborted ? [] : marks));
  }

  #usage() {
    const totalTokenCount = 1 + this.#random.below(1000);
    return { totalTokenCount, promptTokenCount: 1, candidatesTokenCount: totalTokenCount - 1 };
  }

  /** An answer that is whole. Whether it makes sense is another matter. */
  #turn(): Answer {
    const random = this.#random;
    const usage = this.#usage();
    const tokens = usage.totalTokenCount;
    if (random.chance(0.3)) {
      return { reply: { parts: [text('Done.')], usage, chunkDelayMs: random.below(3) }, tokens, marks: [] };
    }
    const marks = random.list(1 + random.below(3), () => `<${++this.#marks}>`);
    const calls = marks.map((mark) => this.#log(mark));
    if (random.chance(0.15)) {
      const finishReason = random.pick([
        'MALFORMED_FUNCTION_CALL',
        'UNEXPECTED_TOOL_CALL',
        'MAX_TOKENS',
        'SAFETY',
        'ODD',
      ]);
      return { reply: { parts: [text(BROKEN), ...calls], finishReason, usage }, tokens, marks: [] };
    }
    if (random.chance(0.15)) {
      return { reply: { parts: [...calls, random.pick(ODD_CALLS)], usage }, tokens, marks: [] };
    }
    // A way to ask that a tool refuses, or that nobody knows, beside calls that are fine.
    const more = random.chance(0.2) ? [random.pick(REFUSED_CALLS)] : [];
    const chunks = random.chance(0.5) ? [[...calls, ...more]] : [...calls, ...more].map((part) => [part]);
    if (!random.chance(0.2))
      return { reply: { chunks, usage, chunkDelayMs: random.below(3) }, tokens, marks };
    return { reply: { pieces: this.#withTwins(chunks, usage) }, tokens, marks };
  }

  /** A call that leaves a mark every time it is executed. */
  #log(mark: string): object {
    const id = this.#random.chance(0.5) ? `call${mark}` : undefined;
    const args = { file_path: 'log', old_string: 'END', new_string: `${mark}END` };
    return call('replace', args, id === undefined ? {} : { id });
  }

  /** Events of which some come twice: those whose calls have ids, which prove it. */
  #withTwins(chunks: readonly object[][], usageMetadata: object): string[] {
    return chunks.flatMap((parts, i) => {
      const last = i === chunks.length - 1;
      const candidate = { content: { role: 'model', parts }, ...(last && { finishReason: 'STOP' }) };
      const event = `data: ${JSON.stringify({ candidates: [candidate], ...(last && { usageMetadata }) })}\r\n\r\n`;
      const isProved = parts.every((part) => (part as { functionCall?: { id?: string } }).functionCall?.id);
      return isProved && this.#random.chance(0.5) ? [event, event] : [event];
    });
  }

  /** What happens to a request on its way, or instead of an answer. */
  #mishap(): Answer {
    const random = this.#random;
    const half = [[text(BROKEN)], [this.#log(`<${BROKEN}>`)], [text(BROKEN)]];
    const reply = random.pick<() => Reply>([
      () => error(random.pick([500, 502, 503, 504, 408, 499]), 'UNAVAILABLE'),
      () =>
        error(503, 'UNAVAILABLE', {
          '@type': 'RetryInfo',
          retryDelay: random.pick(['0.005s', '0s', '3600s']),
        }),
      () => error(429, 'RESOURCE_EXHAUSTED', { '@type': 'RetryInfo', retryDelay: '0.01s' }),
      () =>
        error(429, 'RESOURCE_EXHAUSTED', {
          violations: [{ quotaId: random.pick(['XPerDay', 'XPerMinute']) }],
        }),
      () => error(random.pick([400, 401, 403, 404]), 'NO'),
      () => ({ reset: true }),
      () => ({ chunks: half, cutAfterChunks: random.below(3), chunkDelayMs: random.below(3), usage: null }),
      () => ({ chunks: half, finishReason: null, usage: null }),
      () => ({
        raw: random.pick(['', '<html>', 'data: {"candid', 'data: []\n\n', '{', '[{"error":{"code":503}}]']),
      }),
      () => ({ raw: `data: ${JSON.stringify(error(503, 'UNAVAILABLE').body)}\r\n\r\n` }),
      () => (random.chance(0.1) ? { hang: true } : { reset: true }),
    ])();
    return { reply, tokens: 0, marks: [] };
  }
}

function error(status: number, name: string, ...details: object[]): Reply {
  return { status, body: { error: { code: status, status: name, message: 'chaos', details } } };
}

/** Calls that cannot even be named: the whole answer is of no use. */
const ODD_CALLS: readonly object[] = [
  { functionCall: {} },
  { functionCall: { name: '', args: {} } },
  { functionCall: { name: 7 } },
  { functionCall: { id: 7, name: 'replace', args: {} } },
];

const REFUSED_CALLS: readonly object[] = [
  call('no_such_tool', { x: 1 }),
  call('replace', {}),
  call('write_file', { file_path: '../outside', content: 'x' }),
  { functionCall: { name: 'replace' } },
  { functionCall: { name: 'replace', args: 'text' } },
  { functionCall: { name: 'replace', args: [null] } },
  call('read_file', { file_path: 'missing' }),
];

type Sent = {
  role: string;
  parts: { functionCall?: Named; functionResponse?: Named & { response: unknown } }[];
};
type Named = { id?: string; name?: string };

/** What the API would refuse in a request; written here once more, so that the runner's own check has a witness. */
export function protocolFaults(contents: readonly Sent[]): string[] {
  const faults: string[] = [];
  if (contents[0]?.role !== 'user' || contents.at(-1)?.role !== 'user') faults.push('ends');
  contents.forEach(({ role, parts }, i) => {
    if (parts.length === 0) faults.push(`${i}: empty`);
    const asked = contents[i - 1]?.parts.flatMap(({ functionCall }) => functionCall ?? []) ?? [];
    const answered = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    if (role === 'model' && (asked.length > 0 || answered.length > 0)) faults.push(`${i}: model`);
    if (role === 'user' && asked.length !== answered.length)
      faults.push(`${i}: ${asked.length}/${answered.length}`);
    answered.forEach(({ id, name, response }, k) => {
      const made = asked[k];
      if (made?.name !== name || (made?.id !== undefined && made.id !== id))
        faults.push(`${i}: response ${k}`);
      if (typeof response !== 'object' || response === null || Array.isArray(response))
        faults.push(`${i}: no object`);
    });
  });
  return faults;
}
