import { isDeepStrictEqual } from 'node:util';
import { canonicalJson } from '../lib/canonical-json.js';
import { count } from '../lib/text.js';
import type { CallResult } from '../protocol/call.js';
import type { Emit } from '../protocol/event.js';
import { failure, type Outcome } from '../protocol/outcome.js';

export interface LoopSettings {
  /** The same call with the same result this often in a row is a loop. */
  readonly repeats: number;
  /** The longest cycle of calls to look for. */
  readonly cycle: number;
  /** A cycle repeated this often is a loop. */
  readonly cycle_repeats: number;
  /** How many more rounds end the run after the model was warned. */
  readonly more: number;
}

/** A call with what the model saw of its result. */
interface Step {
  readonly result: CallResult;
  /** The call and its status in one text: enough to tell most calls apart. */
  readonly asked: string;
  readonly seen: readonly unknown[];
}

/**
 * Finds a model that goes round in circles: the same calls with the same results, over and over. It is warned once,
 * in the result that closes the circle; if it still goes on, the run ends. Remembers no more than one cycle.
 */
export class LoopDetector {
  readonly #settings: LoopSettings | 'off';
  readonly #emit: Emit;
  #muted = false;
  /** The latest steps, as many as a cycle may have. */
  #steps: Step[] = [];
  /** For each length of a cycle: how many steps in a row were equal to the one that far before them. */
  #streaks: number[] = [];
  #loop: { readonly length: number; roundsWhenTold?: number } | undefined;

  constructor(settings: LoopSettings | 'off', emit: Emit) {
    this.#settings = settings;
    this.#emit = emit;
  }

  /** Records a turn's results and returns them, one of them with a notice if they close a circle. */
  observe(results: readonly CallResult[]): readonly CallResult[] {
    const settings = this.#settings;
    if (settings === 'off') return results;
    const answers = results.map((result) => this.#add(result, settings));
    // The other calls of the turn were made before the model could read the notice.
    if (this.#loop) this.#loop.roundsWhenTold ??= this.#rounds(this.#loop.length);
    return answers;
  }

  /** Records results that were observed before the run was interrupted. */
  recall(results: readonly CallResult[]): void {
    this.#muted = true;
    this.observe(results);
    this.#muted = false;
  }

  /** The end of the run, if the model goes on after it was warned. */
  outcome(): Outcome | undefined {
    if (this.#settings === 'off' || this.#loop?.roundsWhenTold === undefined) return undefined;
    const { length, roundsWhenTold } = this.#loop;
    const rounds = this.#rounds(length);
    if (rounds < roundsWhenTold + this.#settings.more) return undefined;
    return failure('loop_detected', length === 1 ? 'same_call' : 'cycle', this.#describe(length, rounds), {
      hint: 'See loop_notice in the transcript. If this was intended, set loops in the policy.',
    });
  }

  #add(result: CallResult, settings: LoopSettings): CallResult {
    // Denials have their own limit and outcome.
    if (isDenial(result)) {
      this.#steps = [];
      this.#streaks = [];
      this.#loop = undefined;
      return result;
    }
    this.#count(stepOf(result), settings.cycle);
    if (this.#loop && this.#streaks[this.#loop.length] !== 0) return result;
    const length = this.#streaks.findIndex((_, length) => this.#isLoop(length, settings));
    this.#loop = length > 0 ? { length } : undefined;
    return length > 0 ? this.#tell(result, length, settings) : result;
  }

  #count(step: Step, longest: number): void {
    for (let length = 1; length <= longest; length++) {
      const before = this.#steps.at(-length);
      const streak = this.#streaks[length] ?? 0;
      this.#streaks[length] = before && isSameStep(before, step) ? streak + 1 : 0;
    }
    this.#steps.push(step);
    if (this.#steps.length > longest) this.#steps.shift();
  }

  #isLoop(length: number, { repeats, cycle_repeats }: LoopSettings): boolean {
    if (length === 0 || this.#isMadeOfLess(length)) return false;
    return this.#rounds(length) >= (length === 1 ? repeats : cycle_repeats);
  }

  /** AA is not a cycle of two calls, nor ABAB one of four. */
  #isMadeOfLess(length: number): boolean {
    return this.#streaks.some(
      (streak, less) => less < length && length % less === 0 && streak >= length - less,
    );
  }

  /** How often the last `length` steps were repeated without a break. */
  #rounds(length: number): number {
    return Math.floor((this.#streaks[length] ?? 0) / length) + 1;
  }

  #tell(result: CallResult, length: number, { more }: LoopSettings): CallResult {
    const repeats = this.#rounds(length);
    const message = `[Notice from Bosun: ${this.#describe(length, repeats)}. Repeating this changes nothing: do something else, or end and say what blocks you. After ${more} more the run is stopped.]`;
    const calls = this.#steps
      .slice(-length)
      .map(({ result: { call } }) => ({ tool_id: call.id, tool_name: call.name }));
    if (!this.#muted) this.#emit({ type: 'loop_notice', tool_id: result.call.id, calls, repeats, message });
    return withNotice(result, message);
  }

  #describe(length: number, rounds: number): string {
    const names = this.#steps.slice(-length).map(({ result }) => result.call.name);
    if (length === 1)
      return `${names[0]} was called ${count(rounds, 'time')} in a row with the same arguments and the same result`;
    return `the same ${length} calls (${names.join(', ')}) were repeated ${count(rounds, 'time')} in a row with the same results`;
  }
}

/**
 * What makes calls equal, whatever the order of their arguments. Where the full output was written differs each time,
 * and does not count.
 */
function stepOf(result: CallResult): Step {
  const { call, status, output, error, media, full_output: path } = result;
  const text = error?.message ?? output;
  const shown = path !== undefined && typeof text === 'string' ? text.replaceAll(path, '') : text;
  const asked = canonicalJson([call.name, call.args, status, error?.type ?? '']);
  return { result, asked, seen: [shown, media] };
}

function isSameStep(one: Step, other: Step): boolean {
  return one.asked === other.asked && isDeepStrictEqual(one.seen, other.seen);
}

function isDenial({ error }: CallResult): boolean {
  return error?.type === 'policy_denied' || error?.type === 'approval_denied';
}

/** A result with a notice for the model. */
export function withNotice(result: CallResult, notice: string): CallResult {
  const { output = '', error } = result;
  if (error) return { ...result, error: { ...error, message: `${error.message}\n\n${notice}` } };
  if (typeof output === 'object') return { ...result, output: { ...output, notice } };
  return { ...result, output: `${output}\n\n${notice}` };
}
