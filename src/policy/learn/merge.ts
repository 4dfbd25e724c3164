import { parseYaml, withMoreItems } from '../../lib/yaml.js';
import type { LearntRule } from './rules.js';
import { jsonText, ruleTexts } from './write.js';

/**
 * A policy with further rules after its own: what a person wrote stays as it is, byte by byte. Undefined if its
 * format does not allow adding them. `taken` are the ids of all its rules.
 */
export async function mergedText(
  text: string,
  rules: readonly LearntRule[],
  taken: readonly string[],
): Promise<string | undefined> {
  if (rules.length === 0) return text;
  const lines = (await ruleTexts(rules, taken)).join('\n');
  const parsed = parseYaml(`rules:\n${lines}\n`);
  if (!parsed.ok) throw new Error(parsed.message);
  const values = (parsed.value as { rules: readonly Readonly<Record<string, unknown>>[] }).rules;
  return withMoreItems(text, 'rules', { lines, bracketed: values.map(inBrackets) });
}

/** As JSON, in which a policy may be written. */
function inBrackets(rule: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(rule).map(([key, value]) => `"${key}": ${jsonText(value)}`);
  return `{${pairs.join(', ')}}`;
}
