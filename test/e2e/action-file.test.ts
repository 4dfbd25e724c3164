import { Ajv } from 'ajv';
import { expect, test } from '@jest/globals';
import { ACTION_SCHEMA } from '../helpers/action-schema.js';
import { readAction } from '../helpers/composite-action.js';

const validate = new Ajv({ allErrors: true }).compile(ACTION_SCHEMA);
const action = readAction();

test('action.yml is an action that GitHub takes', () => {
  expect([validate(action), validate.errors]).toEqual([true, null]);
});

test.each<[string, object]>([
  [
    'an expression in a script',
    { runs: { using: 'composite', steps: [{ name: 'x', shell: 'bash', run: 'echo ${{ inputs.prompt }}' }] } },
  ],
  ['a step without a shell', { runs: { using: 'composite', steps: [{ name: 'x', run: 'true' }] } }],
  ['a key that there is not', { input: {} }],
  ['a default that is no text', { inputs: { a: { description: 'x', default: false } } }],
  ['no description', { description: '' }],
])('%s would be found', (_, change) => {
  expect(validate({ ...action, ...change })).toBe(false);
});

test('action.yml splices no expression into a script, and starts nothing but this checkout', () => {
  for (const { run } of action.runs.steps) {
    expect(run).not.toContain('${{');
    expect(run).toMatch(/^exec (bash|node) "\$GITHUB_ACTION_PATH\/bin\/[\w./-]+"( [a-z-]+)?$/);
  }
});

test('only the step that runs the model gets to see the key', () => {
  const seeing = action.runs.steps.filter(({ env }) => JSON.stringify(env ?? {}).includes('api-key'));
  expect(seeing.map(({ name }) => name)).toEqual(['Run Bosun']);
});

test('every output comes from the step that runs, under its own name', () => {
  for (const [name, { value }] of Object.entries(action.outputs))
    expect(value).toBe(`\${{ steps.run.outputs.${name} }}`);
});
