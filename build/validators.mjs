// Validators of our own schemas, written by ajv when the program is built: compiling one takes longer than all else that a
// run does before its first request. They stand in the place of `ready-validators.ts` of each part.
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';

const require = createRequire(import.meta.url);
const { Ajv } = require('ajv/dist/ajv');
const { default: standaloneCode } = require('ajv/dist/standalone');

/** As in src/lib/schema-compiler.ts: what is wrong is told in the same words, whoever has compiled it. */
const OPTIONS = { allErrors: true, verbose: true, strict: false, validateSchema: false, meta: false };

/** What a part of src validates, by the name that it asks for. */
function schemasOf(part, { policy, transcript, approvalAnswer, tools }) {
  switch (part) {
    case 'policy':
      return { policy };
    case 'transcript':
      return { line: transcript };
    case 'tools':
      return tools;
    case 'approvals':
      return { answer: approvalAnswer, answers: { type: 'array', minItems: 1, items: approvalAnswer } };
    default:
      throw new Error(`build/validators.mjs knows no schemas of src/${part}`);
  }
}

/**
 * @param {Awaited<ReturnType<import('./schemas.mjs').loadSchemas>>} schemas
 * @param {string} root
 * @param {{ except?: readonly string[] }} [options] parts whose schemas are compiled at run time all the same
 */
export function readyValidators(schemas, root, { except = [] } = {}) {
  return {
    name: 'ready-validators',
    setup({ onLoad }) {
      onLoad({ filter: /ready-validators\.ts$/ }, ({ path }) => {
        const part = basename(dirname(path));
        if (except.includes(part)) return undefined;
        return { contents: validatorsCode(schemasOf(part, schemas)), loader: 'js', resolveDir: root };
      });
    },
  };
}

/** A module that exports `READY`: a validator by the name of each schema. */
export function validatorsCode(schemas) {
  const names = Object.keys(schemas);
  const ajv = new Ajv({ ...OPTIONS, inlineRefs: false, code: { source: true, lines: false } });
  const exported = names.map((name, i) => {
    ajv.addSchema({ ...inFunctions(schemas[name]), $id: `schema${i}` });
    return [`ready${i}`, `schema${i}`];
  });
  const code = standaloneCode(ajv, Object.fromEntries(exported)).replaceAll(LENGTH, CHARACTERS);
  if (code.includes('require('))
    throw new Error('ajv needs more at run time than build/validators.mjs knows');
  const entries = names.map((name, i) => `${JSON.stringify(name)}: exports.ready${i}`);
  return `const exports = {};\n${code}\nexport const READY = {${entries.join(', ')}};`;
}

/** What ajv would load to count characters, and the same in place: a piece of its own would be one more file to load. */
const LENGTH = 'require("ajv/dist/runtime/ucs2length").default';
const CHARACTERS =
  '((text) => text.length - (text.match(/[\\ud800-\\udbff][\\udc00-\\udfff]/g)?.length ?? 0))';

const ABOUT = new Set(['$schema', 'title', 'description', 'default']);
const IN_LISTS = ['anyOf', 'oneOf', 'allOf'];
const IN_PLACE = ['items', 'additionalProperties', 'then', 'else'];

/**
 * The same schema with a definition for each of its parts, so that each becomes a function: V8 compiles those that are
 * called, and most documents have few of the keys there are. What only people read is left out.
 */
function inFunctions(schema) {
  const definitions = new Map();
  const walked = (node) => {
    const copy = Object.fromEntries(Object.entries(node).filter(([key]) => !ABOUT.has(key)));
    // What a text must look like is told by them.
    if (!node.pattern) delete copy.examples;
    if (node.properties) {
      const entries = Object.entries(node.properties).map(([name, value]) => [name, reference(value)]);
      copy.properties = Object.fromEntries(entries);
    }
    for (const key of IN_PLACE) if (typeof node[key] === 'object') copy[key] = reference(node[key]);
    for (const key of IN_LISTS) if (node[key]) copy[key] = node[key].map(reference);
    return copy;
  };
  const reference = (node) => {
    const copy = walked(node);
    if (Object.keys(copy).length === 0) return copy;
    const text = JSON.stringify(copy);
    if (!definitions.has(text)) definitions.set(text, [`d${definitions.size}`, copy]);
    return { $ref: `#/definitions/${definitions.get(text)[0]}` };
  };
  const root = walked(schema);
  return { ...root, definitions: Object.fromEntries(definitions.values()) };
}
