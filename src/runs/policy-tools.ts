import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { explain } from '../policy/explain.js';
import { ruleIndex } from '../policy/keys/rules.js';
import { lint, type Locate, type Warning } from '../policy/lint.js';
import type { PolicySource } from '../policy/place.js';
import { POLICY_SCHEMA } from '../policy/schema.js';
import { presetNames } from '../policy/preset-names.js';
import { readSource } from '../policy/source.js';
import { TOOL_NAMES } from '../policy/tool-names.js';
import { configProblem } from '../protocol/problem.js';
import { openChecker, type CheckRequest } from './check-policy.js';
import { loadPolicies, presetsFolder, type PolicyRequest } from './policies.js';

export { POLICY_SCHEMA, TOOL_NAMES };

/** A decision in words, and the decision itself. */
export async function explainCall(request: CheckRequest, tool: string, args: unknown) {
  const checked = await (await openChecker(request)).checkDetailed(tool, args);
  const line = checked.runs !== undefined && { line: (args as { command: string }).command };
  return { decision: checked.decision, text: explain({ tool, ...checked, ...line }) };
}

/** Of the rules that a policy takes from a preset nothing is said: whoever extends it cannot change them. */
export async function lintPolicies(request: PolicyRequest): Promise<Warning[]> {
  if (request.policies.length === 0)
    throw configProblem('policy', 'no policy to look at', { hint: 'Name one with --policy FILE or PRESET.' });
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

export interface Preset {
  readonly name: string;
  readonly about: string;
  readonly text: string;
}

/** The presets, each with the first sentence about it. */
export function listPresets(): Preset[] {
  const folder = presetsFolder();
  return presetNames(folder).map((name) => {
    const text = readFileSync(join(folder, `${name}.yaml`), 'utf8');
    const about = /^# (?!yaml-language-server)(.+)$/m.exec(text)?.[1] ?? '';
    return { name, about, text };
  });
}
