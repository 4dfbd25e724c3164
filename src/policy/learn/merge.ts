import { endOfList, parseYaml, withItems } from '../../lib/yaml.js';
import type { LearntRule } from './rules.js';
import { ruleTexts } from './write.js';

/** A policy with further rules behind its own. Whatever a person wrote stays as it is, comments and order included. */
export async function mergedText(text: string, rules: readonly LearntRule[]): Promise<string> {
  if (rules.length === 0) return text;
  const parsed = parseYaml(text);
  if (!parsed.ok) throw new Error(parsed.message);
  const own = (parsed.value as { rules?: readonly { id: string }[] }).rules;
  const items = await ruleTexts(
    rules,
    (own ?? []).map(({ id }) => id),
  );
  const block = items.join('\n');
  if (own === undefined) return `${text.replace(/\n*$/, '\n')}rules:\n${block}\n`;
  const end = endOfList(text, 'rules');
  if (!end) {
    const fresh = parseYaml(`rules:\n${block}\n`);
    return withItems(text, 'rules', fresh.ok ? (fresh.value as { rules: unknown[] }).rules : []);
  }
  const indented = block.replaceAll(/^ {2}/gm, ' '.repeat(end.indent));
  const before = text.slice(0, end.offset).replace(/(?<!\n)$/, '\n');
  return `${before}${indented}\n${text.slice(end.offset)}`;
}
