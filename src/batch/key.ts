import { canonicalJson } from '../lib/canonical-json.js';
import { sha256 } from '../lib/ids.js';
import type { Tier } from '../protocol/model-settings.js';
import type { KeyParts } from './journal/event.js';

export interface TaskKey {
  readonly key: string;
  readonly parts: KeyParts;
}

/** What identifies a task, by the names under which a change is reported. */
export interface KeyInput {
  readonly prompt: string;
  readonly attachments: readonly (readonly [name: string, content: string])[];
  /** A hash of the whole policy. */
  readonly policy: string;
  readonly model: string;
  readonly tier: Tier;
  /** The commit that it starts from, or the contents of its inputs; null if there is neither. */
  readonly base: string | Readonly<Record<string, string | null>> | null;
  readonly success: object;
  readonly dryRun: boolean;
  /** What else decides how a task runs: the form of the answer, the protocol of tools. */
  readonly form: object;
}

const PART_LENGTH = 12;

type OwnParts = 'prompt' | 'attachments' | 'base';

/** What all tasks share is hashed once: there may be thousands of them. */
export function keyMaker(common: Omit<KeyInput, OwnParts>): (own: Pick<KeyInput, OwnParts>) => TaskKey {
  const first = hashesOf({ policy: common.policy, model: common.model });
  const tier = common.tier === 'standard' ? [] : hashesOf({ tier: common.tier });
  const last = hashesOf({ success: common.success, 'dry run': common.dryRun, form: common.form });
  let commit: { readonly base: string; readonly hashes: Hashes } | undefined;
  const baseOf = (base: KeyInput['base']): Hashes => {
    if (typeof base !== 'string') return hashesOf({ inputs: base });
    if (commit?.base !== base) commit = { base, hashes: hashesOf({ base }) };
    return commit.hashes;
  };
  return ({ prompt, attachments, base }) => {
    const own = hashesOf({ prompt, attachments });
    const hashes = [...own, ...first, ...tier, ...baseOf(base), ...last];
    return {
      key: sha256(canonicalJson(Object.fromEntries(hashes))),
      parts: Object.fromEntries(hashes.map(([name, hash]) => [name, hash.slice(0, PART_LENGTH)])),
    };
  };
}

type Hashes = readonly (readonly [name: string, hash: string])[];

function hashesOf(parts: object): Hashes {
  return Object.entries(parts).map(([name, value]) => [name, sha256(canonicalJson(value))] as const);
}

/** `the prompt and the base changed` */
export function changedParts(before: KeyParts, now: KeyParts): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const changed = names.filter((name) => before[name] !== now[name]);
  if (changed.length === 0) return 'its key changed';
  const named = changed.map((name) => `the ${name}`);
  const list = [named.slice(0, -1).join(', '), named.at(-1)].filter(Boolean).join(' and ');
  return `${list} changed`;
}
