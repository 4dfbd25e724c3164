import type { Scope, SimpleCommand } from './model.js';
import { reject } from './unreadable.js';

/** What is found while a script is read: its commands, their places, and what variables hold. */
export class ScriptNotes {
  readonly commands: SimpleCommand[] = [];
  readonly functions: string[] = [];
  /** A nested script inherits variables that it does not show. */
  readonly #nested: boolean;
  /** Variables that may hold anything but a number. */
  readonly #texts = new Set<string>();
  /** Variables that arithmetic reads. */
  readonly #numbers = new Set<string>();
  #anyText = false;
  #scopes: readonly Scope[] = [];
  #lastScope = 0;

  constructor(nested: boolean) {
    this.#nested = nested;
  }

  /** A command gets its place when it is met, so that what is inside it comes after it. */
  add(command: Partial<SimpleCommand>): (found: Partial<SimpleCommand>) => void {
    const nothing = { words: [], assignments: [], redirects: [], isCondition: false };
    const at = this.commands.push({ ...nothing, scopes: this.#scopes, ...command }) - 1;
    return (found) => {
      this.commands[at] = { ...(this.commands[at] as SimpleCommand), ...found };
    };
  }

  /** What is found meanwhile gets a scope of its own, if a kind is given. */
  within<T>(kind: Scope['kind'] | undefined, look: () => T): T {
    const outer = this.#scopes;
    if (kind) this.#scopes = [...outer, { id: ++this.#lastScope, kind }];
    const found = look();
    this.#scopes = outer;
    return found;
  }

  text(name: string): void {
    this.#texts.add(name);
  }

  /** Any variable may now hold text. */
  anyText(): void {
    this.#anyText = true;
  }

  numbers(names: readonly string[] | undefined, where: string): void {
    if (!names) return reject(`${where} in it could run commands`);
    if (this.#nested && names.length > 0) reject(`${where} in it reads variables from outside`);
    for (const name of names) this.#numbers.add(name);
    // Arithmetic can set variables as well.
    if (names.length > 0) this.add({ assignments: names });
  }

  /** Arithmetic evaluates the values of the variables it reads. */
  checkNumbers(): void {
    for (const name of this.#numbers)
      if (this.#anyText || this.#texts.has(name))
        reject(`arithmetic on ${name} could run what is stored in it`);
  }
}
