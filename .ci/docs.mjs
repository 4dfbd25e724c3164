// Writes the tables of docs/ and README.md that come from the code; with --check it only says whether they are fresh.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const { outputFiles } = await build({
  absWorkingDir: root,
  stdin: {
    contents: `export { EVENT_FIELDS } from './src/transcript/schema.ts';
      export { EXIT_CODES, MEANINGS, TASKS_FAILED } from './src/protocol/outcome.ts';
      export { TOOL_ERROR_TYPES } from './src/protocol/tool-error.ts';
      export { builtinTools } from './src/tools/builtin.ts';
      export { POLICY_SCHEMA } from './src/policy/schema.ts';
      export { rowsOf } from './src/policy/keys/row.ts';
      export { KEYS } from './src/policy/keys/table.ts';
      export { PROTECTED_PATHS } from './src/protocol/protected-paths.ts';
      export { ELSEWHERE, INCLUDES, LIKE, SAME } from './src/policy/shell/alias-table.ts';
      export { FACTS_DATE, MODEL_FACTS } from './src/providers/model-facts.ts';`,
    resolveDir: root,
  },
  bundle: true,
  platform: 'node',
  format: 'esm',
  write: false,
  external: ['@vscode/ripgrep'],
  banner: { js: "import{createRequire}from'node:module';const require=createRequire('/');" },
});
const code = Buffer.from(outputFiles[0].contents).toString('base64');
const {
  ELSEWHERE,
  EVENT_FIELDS,
  EXIT_CODES,
  FACTS_DATE,
  INCLUDES,
  KEYS,
  LIKE,
  MEANINGS,
  MODEL_FACTS,
  POLICY_SCHEMA,
  PROTECTED_PATHS,
  SAME,
  TASKS_FAILED,
  TOOL_ERROR_TYPES,
  builtinTools,
  rowsOf,
} = await import(`data:text/javascript;base64,${code}`);

const action = parse(readFileSync(`${root}action.yml`, 'utf8'));

const BLOCKS = {
  'action-inputs': () => [
    '| input | meaning | default |',
    '| --- | --- | --- |',
    ...Object.entries(action.inputs).map(
      ([name, input]) =>
        `| \`${name}\` | ${input.description} | ${input.default ? `\`${input.default}\`` : ''} |`,
    ),
  ],
  'action-outputs': () => [
    '| output | meaning |',
    '| --- | --- |',
    ...Object.entries(action.outputs).map(([name, output]) => `| \`${name}\` | ${output.description} |`),
  ],
  'command-names': () => [
    '| command | an allow covers as well | a deny or an ask covers besides |',
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
  'tool-errors': () => [TOOL_ERROR_TYPES.map((type) => `\`${type}\``).join(', ')],
  tools: () =>
    builtinTools({
      workspace: '/',
      environment: {},
      timeoutMs: 0,
      idleTimeoutMs: 0,
      runCommand: undefined,
      admits: undefined,
      outputCap: 0,
      rootCommands: undefined,
    }).flatMap(({ name, kind, description, parameters }) => [
      `### \`${name}\` (${kind})`,
      '',
      description,
      '',
      ...parametersOf(parameters, '- '),
      '',
    ]),
};

/** A line for every command that has other names, or is a part of others. */
function commandRows() {
  const programs = [...new Set([SAME, LIKE, INCLUDES].flatMap((table) => Object.keys(table)))];
  const groups = (table) =>
    programs.flatMap((program) =>
      (table[program] ?? []).map((line) => line.split(', ').map((phrase) => `${program} ${phrase}`)),
    );
  const others = (lists, command) =>
    lists.filter(([first]) => first === command).flatMap(([, ...rest]) => rest);
  const lists = [groups(SAME), groups(LIKE), [...groups(INCLUDES), ...ELSEWHERE]];
  const spelt = (commands) =>
    commands.map((one) => `\`${one.replace(/ \$$/, '').replace(/ \*$/, ' …')}\``).join(', ');
  return [...new Set(lists.flat().map(([first]) => first))]
    .toSorted((a, b) => a.localeCompare(b))
    .map((command) => {
      const [same = [], ...more] = lists.map((list) => others(list, command));
      const note = command.endsWith(' $') ? ' (a rule that says no more)' : '';
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

/** A line for every parameter; the fields of items stand below their list. */
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

const ROWS = new Map(rowsOf(KEYS).map((row) => [row.key, row]));
const EXTENDS = { override: 'overrides', add: 'adds up', append: 'adds up', merge: 'adds up, by name' };
const COMBINES = {
  own: 'each decides',
  each: 'each counts',
  smallest: 'smallest',
  strictest: 'strictest',
  union: 'all',
  shared: 'what all name',
  merge: 'all, the last by name',
  first: 'first',
  any: 'if any says so',
};
const FLAGS = { tighten: 'tightens', narrow: 'narrows', add: 'adds', demand: 'demands it' };

/** What a row says besides: its default, how files and policies are put together, what a flag may do. */
function howOf(key) {
  const row = ROWS.get(key);
  if (!row) return ['', '', '', ''].join(' | ');
  const value = row.default ?? row.schema.default;
  return [
    value === undefined ? '' : `\`${value}\``,
    typeof row.extend === 'string' ? EXTENDS[row.extend] : 'adds up',
    typeof row.combine === 'string' ? COMBINES[row.combine] : row.combine.words,
    row.flag?.name ? `\`${row.flag.name}\` ${FLAGS[row.flag.may]}` : '',
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

let stale = 0;
const FILES = [
  'README.md',
  ...['events', 'exit-codes', 'github-actions', 'models', 'policy', 'tools'].map((name) => `docs/${name}.md`),
];
for (const file of FILES) {
  const before = readFileSync(`${root}${file}`, 'utf8');
  const filled = before.replaceAll(
    /(<!-- generated: ([\w-]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start, name, end) => `${start}\n${BLOCKS[name]().join('\n').trim()}\n\n${end}`,
  );
  const style = await resolveConfig(`${root}${file}`);
  const after = await format(filled, { ...style, parser: 'markdown' });
  if (after === before) continue;
  stale++;
  if (process.argv.includes('--check')) process.stderr.write(`${file} is not fresh: npm run docs\n`);
  else writeFileSync(`${root}${file}`, after);
}
process.exitCode = process.argv.includes('--check') && stale > 0 ? 1 : 0;
