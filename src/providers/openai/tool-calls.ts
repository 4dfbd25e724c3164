import { isRecord } from '../../lib/record.js';
import { oneLine } from '../../lib/text.js';
import type { Part } from '../../protocol/content.js';
import { ArgumentText } from './arguments.js';
import type { Carried } from './carried.js';

type Fields = Readonly<Record<string, unknown>>;

/** A piece of a call in a streamed answer: any of this may be missing or null. */
interface CallDelta {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly others: Fields;
}

interface Slot {
  readonly index: number | undefined;
  id: string;
  name: string;
  readonly arguments: ArgumentText;
  others: Fields;
}

/** No model requests more at once. */
const MAX_CALLS = 1000;

/** Assembles calls from their pieces, which servers number and name in many ways. */
export class ToolCalls {
  readonly #slots: Slot[] = [];

  add(list: readonly unknown[]): void {
    list.forEach((entry, position) => {
      const delta = readDelta(entry, list.length > 1 ? position : undefined);
      const found = this.#find(delta);
      merge(found && !startsAnother(found, delta) ? found : this.#open(delta.index), delta);
    });
  }

  get count(): number {
    return this.#slots.length;
  }

  /** The calls in the model's order, and what is wrong with the first unreadable one. */
  build(): { readonly parts: Part[]; readonly fault: string | undefined } {
    const numbers = new Set(this.#slots.flatMap(({ index }) => index ?? []));
    // A number that is used twice, or not at all, says nothing about the order.
    const slots =
      numbers.size === this.#slots.length
        ? this.#slots.toSorted((one, other) => Number(one.index) - Number(other.index))
        : this.#slots;
    const built = slots.map(partOf);
    return {
      parts: built.map(({ part }) => part),
      fault: built.find(({ fault }) => fault)?.fault,
    };
  }

  /** The call that a piece continues, by its number, else by its id, else the latest. */
  #find({ index, id, name }: CallDelta): Slot | undefined {
    const latest = this.#slots.at(-1);
    if (index !== undefined) {
      const same = this.#slots.filter((slot) => slot.index === index);
      return (id && same.find((slot) => slot.id === id)) || same.at(-1);
    }
    if (id === '') return latest;
    const known = this.#slots.find((slot) => slot.id === id);
    return known ?? (name === '' ? latest : undefined);
  }

  #open(index: number | undefined): Slot {
    if (this.#slots.length >= MAX_CALLS) throw new SyntaxError(`more than ${MAX_CALLS} calls in one answer`);
    const slot: Slot = { index, id: '', name: '', arguments: new ArgumentText(), others: {} };
    this.#slots.push(slot);
    return slot;
  }
}

/**
 * Servers that give every call the number 0, or none, differ only by id, or only by the name that comes again. A call
 * needs a name, so a piece without one always belongs to an earlier call.
 */
function startsAnother(slot: Slot, delta: CallDelta): boolean {
  if (delta.name === '') return false;
  const otherId = slot.id !== '' && delta.id !== '' && slot.id !== delta.id;
  if (slot.arguments.isEmpty) return otherId;
  if (!slot.arguments.isWhole) return false;
  if (delta.arguments.trim() === '') return otherId || slot.name !== delta.name;
  return !isRepetition(slot, delta);
}

/** Some servers repeat a whole call at the end. */
function isRepetition(slot: Slot, { id, arguments: text }: CallDelta): boolean {
  return id !== '' && slot.id === id && slot.arguments.is(text);
}

function merge(slot: Slot, delta: CallDelta): void {
  if (slot.arguments.isWhole && isRepetition(slot, delta)) return;
  if (slot.id === '') slot.id = delta.id;
  // A name comes whole and once, or in pieces before the arguments, or again with every piece of them.
  if (slot.arguments.isEmpty && slot.name !== delta.name) slot.name += delta.name;
  slot.arguments.add(delta.arguments);
  slot.others = { ...slot.others, ...delta.others };
}

function readDelta(entry: unknown, position: number | undefined): CallDelta {
  const { index, id, type: _type, function: called, ...others } = fieldsOf(entry, 'a tool call');
  const { name, arguments: args } = fieldsOf(called ?? {}, 'the function of a tool call');
  return {
    index: typeof index === 'number' ? index : position,
    id: typeof id === 'string' || typeof id === 'number' ? String(id) : '',
    name: typeof name === 'string' ? name : '',
    arguments: textOfArguments(args),
    others,
  };
}

export function fieldsOf(value: unknown, what: string): Fields {
  if (isRecord(value)) return value as Fields;
  throw new SyntaxError(`${what} is not an object`);
}

/** Some servers send the arguments as an object instead of its text. */
function textOfArguments(args: unknown): string {
  if (typeof args === 'string') return args;
  return args === undefined || args === null ? '' : JSON.stringify(args);
}

function partOf(slot: Slot): { part: Part; fault?: string } {
  const { id, name, arguments: text, others } = slot;
  const parsed = text.parse();
  if (name === '') return unreadable(slot, 'a call has no name');
  if ('fault' in parsed) return unreadable(slot, `the arguments of ${oneLine(name, 64)} ${parsed.fault}`);
  const { args } = parsed;
  const asWritten = text.text.trim() === '' || text.text === JSON.stringify(args);
  const carried: Carried = {
    ...(!asWritten && { arguments: text.text }),
    ...(Object.keys(others).length > 0 && { call: others }),
  };
  const functionCall = { ...(id && { id }), name, args };
  return { part: { functionCall, ...(Object.keys(carried).length > 0 && { openai: carried }) } };
}

/** Kept for people, in a form that nothing takes for a call. */
function unreadable({ id, name, arguments: { text } }: Slot, fault: string): { part: Part; fault: string } {
  const carried: Carried = { unreadable: { ...(id && { id }), name, arguments: text } };
  return { part: { openai: carried }, fault };
}
