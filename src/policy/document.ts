import type { Mode } from '../protocol/decision.js';
import { isSection, type DocumentOf, type Group } from './keys/row.js';
import { KEYS } from './keys/table.js';

export type { Rule } from './keys/rules.js';

export interface SourceFile {
  readonly file: string;
  readonly sha256: string;
}

/** A pattern about external tools, and its place: `file:line:column`. */
export interface Mention {
  readonly pattern: string;
  readonly place: string;
}

/** A policy with everything it extends, as transcripts record it. */
export interface PolicyDocument extends DocumentOf<typeof KEYS> {
  /** The file itself first, then what it extends. */
  readonly sources: readonly SourceFile[];
  /** Every mention of external tools. */
  readonly mentions: readonly Mention[];
}

export type PolicyLimits = PolicyDocument['limits'];
export type PolicyLoops = NonNullable<PolicyDocument['loops']>;

/** Without any policy, only the mode counts. */
export function modeOnly(mode: Mode): PolicyDocument {
  return { ...withDefaults({}), mode };
}

/** A document with defaults for what it leaves out: older versions recorded fewer keys. */
export function withDefaults(document: object): PolicyDocument {
  return { sources: [], mentions: [], ...withEmpty(KEYS, document) } as unknown as PolicyDocument;
}

type Values = Readonly<Record<string, unknown>>;

function withEmpty(group: Group, values: object): Values {
  const found: Record<string, unknown> = { ...values };
  for (const [name, node] of Object.entries(group)) {
    if (!isSection(node)) {
      if ('empty' in node) found[name] ??= node.empty;
    } else if (found[name] !== undefined || node.at === undefined) {
      found[name] = withEmpty(node.rows, (found[name] ?? {}) as object);
    }
  }
  return found;
}
