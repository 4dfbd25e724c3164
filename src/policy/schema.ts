import { keyRows, type Key } from './keys/row.js';
import { object, texts } from './keys/schemas.js';
import { KEYS, SECTIONS } from './keys/table.js';

interface ObjectSchema {
  readonly properties: Record<string, object>;
  readonly required: string[];
}

/** The JSON Schema of a policy file, for the loader and for editors. */
export const POLICY_SCHEMA = policySchema();

function policySchema(): Readonly<Record<string, unknown>> {
  const root = object(
    'What a model may do in a run of Bosun.',
    {
      version: { const: 1, description: 'The version of the format.' },
      extends: texts(
        'Policies to build on: presets by name, files by path. Lists add up, single values override.',
        { examples: [['read-only']] },
      ),
    },
    ['version'],
  );
  for (const row of keyRows(KEYS)) insertKey(row, root as unknown as ObjectSchema);
  return { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Bosun policy', ...root };
}

/** Puts a key where it is written. */
function insertKey(row: Key, root: ObjectSchema): void {
  const steps = row.key.split('.');
  const name = steps.pop() ?? '';
  let at = root;
  for (const [i, step] of steps.entries()) {
    const section = SECTIONS[steps.slice(0, i + 1).join('.')];
    if (section === undefined) throw new Error(`the section of ${row.key} is not in SECTIONS`);
    at = (at.properties[step] ??= object(section, {})) as ObjectSchema;
  }
  at.properties[name] = { ...row.schema, ...('default' in row && { default: row.default }) };
  if (row.required) at.required.push(name);
}
