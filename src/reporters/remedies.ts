import type { Denial, InitEvent } from '../protocol/event.js';

/** What could be done about denied calls. */
export interface Remedies {
  /** Rules for a policy as YAML, one item each, without repetition. */
  readonly rules: readonly string[];
  /** How many calls no rule helps, and why. */
  readonly helpless: number;
}

export function remediesOf(denials: readonly Denial[]): Remedies {
  const rules = new Set<string>();
  let helpless = 0;
  for (const { remedy } of denials) {
    if (remedy && 'rules' in remedy) for (const item of yamlItems(remedy.rules)) rules.add(item);
    else helpless++;
  }
  return { rules: [...rules], helpless };
}

function yamlItems(yaml: string): string[] {
  return yaml.replace(/^rules:\n/, '').split(/^(?= {2}- )/m);
}

/** The rules as written in a policy; a whole policy if the run had none. */
export function remedyYaml(rules: readonly string[], init: InitEvent | undefined): string {
  const head = init && init.policy.length === 0 ? `version: 1\nmode: ${init.mode}\n` : '';
  return `${head}rules:\n${rules.join('')}`;
}

/** Where the rules go. */
export function remedyPlace(init: InitEvent | undefined): string {
  const own = init?.policy.find(({ file }) => /[/.]/.test(file));
  if (init && init.policy.length === 0) return 'a policy, given with --policy';
  return own ? 'the policy' : 'a policy that extends the one in use';
}
