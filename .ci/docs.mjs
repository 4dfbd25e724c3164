// Writes the parts of docs/, README.md and action.yml that come from the code; with --check it only says whether they are fresh.
import { readFileSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { parse, stringify } from 'yaml';
import { reportPage } from '../build/report-page.mjs';
import { loadSources } from '../build/schemas.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const {
  ACTION_INPUTS,
  ACROSS_PROGRAMS,
  EVENT_FIELDS,
  EXIT_CODES,
  FACTS_DATE,
  FLAGS,
  INCLUDES,
  KEYS,
  LOOSE_SYNONYMS,
  MEANINGS,
  MODEL_FACTS,
  POLICY_SCHEMA,
  PROTECTED_PATHS,
  PROVIDERS,
  REPORTERS,
  REPORTER_NAMES,
  SYNONYMS,
  TASKS_FAILED,
  TOOL_ERROR_TYPES,
  builtinTools,
  keyRows,
  reporterSyntax,
} = await loadSources(
  root,
  `export { EVENT_FIELDS } from './src/transcript/schema.ts';
    export { ACTION_INPUTS } from './src/cli/github-action/inputs.ts';
    export { FLAGS } from './src/cli/flags/table.ts';
    export { EXIT_CODES, MEANINGS, TASKS_FAILED } from './src/protocol/outcome.ts';
    export { TOOL_ERROR_TYPES } from './src/protocol/tool-error.ts';
    export { builtinTools } from './src/tools/builtin.ts';
    export { POLICY_SCHEMA } from './src/policy/schema.ts';
    export { keyRows } from './src/policy/keys/row.ts';
    export { KEYS } from './src/policy/keys/table.ts';
    export { PROTECTED_PATHS } from './src/protocol/protected-paths.ts';
    export { ACROSS_PROGRAMS, INCLUDES, LOOSE_SYNONYMS, SYNONYMS } from './src/policy/shell/alias-table.ts';
    export { REPORTERS, REPORTER_NAMES, reporterSyntax } from './src/reporters/registry.ts';
    export { PROVIDERS } from './src/providers/registry.ts';
    export { FACTS_DATE, MODEL_FACTS } from './src/providers/model-facts.ts';`,
  [reportPage],
);

const action = parse(readFileSync(`${root}action.yml`, 'utf8'));

const TOOLS = builtinTools({
  workspace: '/',
  environment: {},
  timeoutMs: 0,
  idleTimeoutMs: 0,
  runCommand: undefined,
  admits: undefined,
  outputCap: 0,
  rootCommands: undefined,
});

const BLOCKS = {
  'action-declared': inputLines,
  'action-inputs': () => [
    '| input | meaning | default |',
    '| --- | --- | --- |',
    ...ACTION_INPUTS.map(
      ({ name, about, default: value }) => `| \`${name}\` | ${about} | ${value ? `\`${value}\`` : ''} |`,
    ),
  ],
  'action-variables': () =>
    ACTION_INPUTS.map(({ name }) => `${variable('INPUT', name)}: \${{ inputs.${name} }}`),
  'action-outputs': () => [
    '| output | meaning |',
    '| --- | --- |',
    ...Object.entries(action.outputs).map(([name, output]) => `| \`${name}\` | ${output.description} |`),
  ],
  'command-names': () => [
    '| command | an allow also covers | a deny or an ask also covers |',
    '| --- | --- | --- |',
    ...commandRows(),
  ],
  'exit-codes': () => [
    '| exit | status | when |',
    '| --- | --- | --- |',
    ...Object.entries(EXIT_CODES).map(
      ([status, exit]) =>
        `| ${status === 'cancelled' ? '130, 143, 141' : exit} | \`${status}\` | ${MEANINGS[status]} |`,
    ),
    `| ${TASKS_FAILED.exitCode} | \`${TASKS_FAILED.status}\` | ${TASKS_FAILED.meaning} |`,
  ],
  flags: () => [
    '| flag | variable | input | commands | meaning |',
    '| --- | --- | --- | --- | --- |',
    ...Object.entries(FLAGS).map(flagRow),
  ],
  events: () => [
    '| type | fields |',
    '| --- | --- |',
    ...Object.entries(EVENT_FIELDS).map(
      ([type, fields]) =>
        `| \`${type}\` | ${Object.keys(fields)
          .map((field) => `\`${field}\``)
          .join(', ')} |`,
    ),
  ],
  models: () => [
    `Taken on ${FACTS_DATE}.`,
    '',
    '| model | context window | longest answer | input | cached | output |',
    '| --- | --- | --- | --- | --- | --- |',
    ...Object.entries(MODEL_FACTS).flatMap(([name, facts]) => modelRows(name, facts)),
  ],
  'policy-keys': () => [
    '| key | what it says | default | with `extends` | several policies | flag |',
    '| --- | --- | --- | --- | --- | --- |',
    ...keysOf(POLICY_SCHEMA, '').map(([key, about]) => `| \`${key}\` | ${about} | ${howOf(key)} |`),
  ],
  'protected-paths': () =>
    PROTECTED_PATHS.map(
      ({ paths, reason, anywhere }) =>
        `- ${anywhere ? 'in every folder' : 'at the top'}, because ${reason}: ${paths.map((path) => `\`${path}\``).join(', ')}`,
    ),
  reporters: () => [
    '| reporter | what it writes |',
    '| --- | --- |',
    ...REPORTER_NAMES.map((name) => `| \`${reporterSyntax(name)}\` | ${REPORTERS[name].about} |`),
  ],
  'tool-errors': () => [TOOL_ERROR_TYPES.map((type) => `\`${type}\``).join(', ')],
  tools: () =>
    TOOLS.flatMap(({ name, kind, description, parameters }) => [
      `### \`${name}\` (${kind})`,
      '',
      description,
      '',
      ...parametersOf(parameters, '- '),
      '',
    ]),
};

/** What is spelt otherwise in the environment. */
function variable(prefix, name) {
  return `${prefix}_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** A flag with all that is called after it. */
function flagRow([name, { short, takes, in: commands, input }]) {
  const flag = `${short ? `-${short}, ` : ''}--${name}${takes.shown && ` ${takes.shown}`}`;
  const action = input ? `\`${input.name ?? name}\`` : '';
  const [help] = Object.values(commands);
  return `| \`${flag}\` | \`${variable('BOSUN', name)}\` | ${action} | ${Object.keys(commands).join(', ')} | ${help.replaceAll('<', '\\<')} |`;
}

/** A line for every command that has other names, or is a part of others. */
function commandRows() {
  const programs = [...new Set([SYNONYMS, LOOSE_SYNONYMS, INCLUDES].flatMap((table) => Object.keys(table)))];
  const groups = (table) =>
    programs.flatMap((program) =>
      (table[program] ?? []).map((line) => line.split(', ').map((phrase) => `${program} ${phrase}`)),
    );
  const others = (lists, command) =>
    lists.filter(([first]) => first === command).flatMap(([, ...rest]) => rest);
  const lists = [groups(SYNONYMS), groups(LOOSE_SYNONYMS), [...groups(INCLUDES), ...ACROSS_PROGRAMS]];
  const spelt = (commands) =>
    commands.map((one) => `\`${one.replace(/ \$$/, '').replace(/ \*$/, ' …')}\``).join(', ');
  return [...new Set(lists.flat().map(([first]) => first))]
    .toSorted((a, b) => a.localeCompare(b))
    .map((command) => {
      const [same = [], ...more] = lists.map((list) => others(list, command));
      const note = command.endsWith(' $') ? ' (a rule with just these words)' : '';
      return `| ${spelt([command])}${note} | ${spelt(same)} | ${spelt(more.flat())} |`;
    });
}

/** A line for a model, and one for its long prompts. */
function modelRows(name, { window, maxOutput, prices }) {
  const row = (label, sizes, rates) =>
    `| ${[label, ...sizes, rates?.input ?? '', rates?.cached ?? '', rates?.output ?? ''].join(' | ')} |`;
  const sizes = [window, maxOutput].map((tokens) => tokens.toLocaleString('en'));
  const long = prices?.long && `… prompts above ${prices.long.above.toLocaleString('en')} tokens`;
  return [row(`\`${name}\``, sizes, prices), ...(long ? [row(long, ['', ''], prices.long)] : [])];
}

/** A line for every parameter; the fields of items come below their list. */
function parametersOf({ properties, required }, mark) {
  return Object.entries(properties).flatMap(([name, { type, description, enum: values, items }]) => {
    const about = description ?? values?.map((value) => `\`${value}\``).join(', ');
    const line = `${mark}\`${name}\` (${type}${required.includes(name) ? ', required' : ''})`;
    return [
      about ? `${line}: ${about}` : line,
      ...(items?.properties ? parametersOf(items, `  ${mark}`) : []),
    ];
  });
}

const ROWS = new Map(keyRows(KEYS).map((row) => [row.key, row]));
const EXTENDS = { override: 'overrides', add: 'adds up', append: 'adds up', merge: 'adds up, by name' };
const COMBINES = {
  own: 'each on its own',
  each: 'each counts',
  smallest: 'smallest',
  strictest: 'strictest',
  union: 'all',
  shared: 'what all name',
  merge: 'all, the last by name',
  first: 'first',
  any: 'if any says so',
};
const FLAG_WORDS = { tighten: 'tightens', narrow: 'narrows', add: 'adds', demand: 'demands it' };

/** What a row says besides: its default, how files and policies are put together, what a flag may do. */
function howOf(key) {
  const row = ROWS.get(key);
  if (!row) return ['', '', '', ''].join(' | ');
  const value = row.default ?? row.schema.default;
  return [
    value === undefined ? '' : `\`${value}\``,
    typeof row.extend === 'string' ? EXTENDS[row.extend] : 'adds up',
    typeof row.combine === 'string' ? COMBINES[row.combine] : row.combine.words,
    row.flag?.name ? `\`${row.flag.name}\` ${FLAG_WORDS[row.flag.may]}` : '',
  ].join(' | ');
}

/** Every key of the schema with its description, depth first. */
function keysOf({ properties = {}, items, additionalProperties }, prefix) {
  const named = additionalProperties?.properties ? keysOf(additionalProperties, `${prefix}NAME.`) : [];
  const inner = items?.properties ? keysOf(items, `${prefix}[].`.replace('.[]', '[]')) : [];
  const own = Object.entries(properties).flatMap(([name, schema]) => [
    [`${prefix}${name}`, schema.description ?? ''],
    ...keysOf(schema, `${prefix}${name}.`),
  ]);
  return [...own, ...named, ...inner];
}

/** The inputs of the action, as YAML. */
function inputLines() {
  const inputs = ACTION_INPUTS.map(({ name, about, default: value }) => [
    name,
    { description: about, ...(value && { default: value }) },
  ]);
  return stringify(Object.fromEntries(inputs), { lineWidth: 0, singleQuote: true }).trimEnd().split('\n');
}

/** What tools say of themselves, for policies, which know them without loading them. */
function toolTable() {
  const rows = TOOLS.map(({ name, kind, aliases, traits }) => [
    name,
    { kind, ...(aliases.length > 0 && { aliases }), ...traits },
  ]);
  return `// Written by npm run docs from src/tools/builtin.
import type { KnownTool } from './tool-traits.js';

export const BUILTIN_TOOLS = ${JSON.stringify(Object.fromEntries(rows))} as const satisfies Readonly<Record<string, KnownTool>>;
`;
}

/** The variables with the keys of models, which programs never get whatever a policy says. */
function credentialList() {
  const names = Object.values(PROVIDERS).flatMap(({ secrets }) => secrets);
  return `// Written by npm run docs from src/providers/registry.ts.

/** Variables whose values are secrets because they are keys of models. */
export const MODEL_CREDENTIALS: readonly string[] = ${JSON.stringify(names)};
`;
}

const MARKS = {
  markdown: /(<!-- generated: ([\w-]+) -->\n)[\s\S]*?(<!-- end -->)/g,
  yaml: /( *# generated: ([\w-]+)\n)[\s\S]*?( *# end\n)/g,
};

/** A block between its marks: in Markdown between empty lines, in YAML as deep as they are. */
function fill(start, lines, end) {
  if (start.startsWith('<')) return `${start}\n${lines.join('\n').trim()}\n\n${end}`;
  const indent = /^ */.exec(start)[0];
  return `${start}${lines.map((line) => `${indent}${line}\n`).join('')}${end}`;
}

/** Files that are generated as a whole: what parts may know of other parts that they do not import. */
const WHOLE = {
  'src/protocol/builtin-tools.ts': toolTable,
  'src/protocol/model-credentials.ts': credentialList,
};
const PARSERS = { '.md': 'markdown', '.yml': 'yaml', '.ts': 'typescript' };
let stale = 0;
const DOCS = ['events', 'exit-codes', 'flags', 'github-actions', 'models', 'policy', 'reporters', 'tools'];
for (const file of [
  ...Object.keys(WHOLE),
  'README.md',
  'action.yml',
  ...DOCS.map((name) => `docs/${name}.md`),
]) {
  const parser = PARSERS[extname(file)];
  const before = readFileSync(`${root}${file}`, 'utf8');
  const filled =
    file in WHOLE
      ? WHOLE[file]()
      : before.replaceAll(MARKS[parser], (_, start, name, end) => fill(start, BLOCKS[name](), end));
  const style = await resolveConfig(`${root}${file}`);
  const after = await format(filled, { ...style, parser });
  if (after === before) continue;
  stale++;
  if (process.argv.includes('--check')) process.stderr.write(`${file} is not fresh: npm run docs\n`);
  else writeFileSync(`${root}${file}`, after);
}
process.exitCode = process.argv.includes('--check') && stale > 0 ? 1 : 0;
