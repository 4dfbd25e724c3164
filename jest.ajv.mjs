// Loads ajv once in each worker. In a suite's own context all of it is cold, and compiling the schema of policies or transcripts
// takes as long as most suites do.
import { createRequire } from 'node:module';

const ajv = createRequire(import.meta.url)('ajv');

/** @type {Map<string, unknown>} */
const compiled = new Map();

/** Compiles each schema once. Validators keep nothing but the errors of the last call, which are read at once. */
class Ajv extends ajv.Ajv {
  #options;
  /** By the schema itself: writing one out takes longer than most uses of it. */
  #known = new WeakMap();

  constructor(options) {
    super(options);
    this.#options = JSON.stringify(options);
  }

  compile(schema) {
    const known = this.#known.get(schema);
    if (known) return known;
    const text = JSON.stringify(schema);
    const key = `${this.#options} ${text}`;
    // A copy: the schema of the suite would keep the suite.
    if (!compiled.has(key)) compiled.set(key, super.compile(JSON.parse(text)));
    this.#known.set(schema, compiled.get(key));
    return compiled.get(key);
  }
}

export const sharedAjv = { ...ajv, Ajv, default: Ajv };
