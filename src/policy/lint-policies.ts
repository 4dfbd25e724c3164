import { dirname } from 'node:path';
import { configProblem } from '../protocol/problem.js';
import { ruleIndex } from './keys/rules.js';
import { lint, type Locate, type Warning } from './lint.js';
import { loadPolicies, type PolicyRequest } from './load.js';
import type { PolicySource } from './place.js';
import { presetsFolder } from './preset-names.js';
import { readSource } from './source.js';

/** Does not report rules that a policy takes from a preset: its author cannot change them. */
export async function lintPolicies(request: PolicyRequest): Promise<Warning[]> {
  if (request.policies.length === 0)
    throw configProblem('policy', 'no policy to check', { hint: 'Name one with --policy FILE or PRESET.' });
  const isPreset = (file: string) => dirname(file) === presetsFolder();
  const documents = await loadPolicies(request);
  const locate = await locator(documents.flatMap(({ sources }) => sources.map(({ file }) => file)));
  return documents.flatMap((document) => {
    const own = document.sources[0]?.file ?? '';
    return lint(document, locate).filter(({ file }) => file === own || !isPreset(file));
  });
}

/** Rules are found by their ids. */
async function locator(files: readonly string[]): Promise<Locate> {
  const sources = new Map<string, PolicySource>();
  for (const file of files) sources.set(file, await readSource(file));
  return (file, [first, id, ...more]) => {
    const source = sources.get(file);
    if (first !== 'rules') return source?.locate([first, id, ...more].filter((step) => step !== undefined));
    const index = source ? ruleIndex(source, String(id)) : -1;
    return index < 0 ? undefined : source?.locate(['rules', index, ...more]);
  };
}
