import { count, revealedLine } from '../../lib/text.js';
import { parseYaml } from '../../lib/yaml.js';
import { seenCounts, type SeenCall } from './lesson.js';
import { comment, commented, often } from './write.js';

/** A denied call, and the rules that would have allowed it, or why there are none. */
export interface Refused extends SeenCall {
  readonly what: string;
  readonly remedy: { readonly rules: string } | { readonly none: string };
  /** The ceiling denies it, too. */
  readonly isBeyond: boolean;
}

/** Commented rules for denied calls, the most frequent first, each with what it would open. */
export function proposalTexts(refused: readonly Refused[]): string[] {
  const groups = new Map<string, Refused[]>();
  for (const one of refused) {
    const key = 'rules' in one.remedy ? one.remedy.rules : JSON.stringify([one.what, one.remedy.none]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  if (groups.size === 0) return [comment('No call was denied that a rule could allow.')];
  const ordered = [...groups.values()].toSorted((a, b) => seenCounts(b).times - seenCounts(a).times);
  return [
    comment(`${count(groups.size, 'thing')} denied. Uncomment what should be allowed, under rules:`),
    ...ordered.flatMap(proposal),
  ];
}

function proposal(group: readonly Refused[]): string[] {
  const [{ what, remedy } = { what: '', remedy: { none: '' } }] = group;
  const beyond = group.some(({ isBeyond }) => isBeyond)
    ? ['#   beyond the ceiling, which refuses it, too']
    : [];
  const head = ['#', comment(`${often(group)}: ${revealedLine(what, 200)}`), ...beyond];
  if ('none' in remedy) return [...head, `#   no rule: ${revealedLine(remedy.none, 400)}`];
  const items = remedy.rules.replace(/^rules:\n/, '');
  return [
    ...head,
    `#   would open: ${revealedLine(opens(remedy.rules).join('; '), 400)}`,
    ...commented(items),
  ];
}

interface Written {
  readonly tool?: string | readonly string[];
  readonly command?: readonly string[];
  readonly exact?: boolean;
  readonly path?: readonly string[];
}

/** What rules mean, in words. */
function opens(yaml: string): string[] {
  const parsed = parseYaml(yaml);
  const rules = parsed.ok ? ((parsed.value as { rules?: readonly Written[] }).rules ?? []) : [];
  return rules.map(({ tool, command, exact, path }) => {
    const named = command?.map((one) => `\`${one}\``).join(exact ? ' and ' : ' or ');
    if (named !== undefined) return exact ? `exactly ${named}` : `every command that begins with ${named}`;
    const tools = [tool ?? []].flat().join(' and ');
    return path ? `${tools} on ${path.join(', ')}` : `every call of ${tools}`;
  });
}
