import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { explain } from '../policy/explain.js';
import { lint, type Warning } from '../policy/lint.js';
import { POLICY_SCHEMA } from '../policy/schema.js';
import { presetNames } from '../policy/source.js';
import { TOOL_NAMES } from '../policy/tool-names.js';
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
  const isPreset = (file: string) => dirname(file) === presetsFolder();
  return (await loadPolicies(request)).flatMap((document) => {
    const own = document.sources[0]?.file ?? '';
    return lint(document).filter(({ file }) => file === own || !isPreset(file));
  });
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
