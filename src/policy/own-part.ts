import type { Path, FilePosition } from '../lib/yaml.js';
import type { Mention, PolicyDocument } from './document.js';

/** What one policy file says itself, without what it extends. */
export interface OwnPart {
  readonly file: string;
  readonly sha256: string;
  readonly extends: readonly string[];
  readonly values: Partial<PolicyDocument>;
  readonly mentions: readonly Mention[];
  readonly locate: (path: Path) => FilePosition;
  /** Its examples were tested when Bosun was built. */
  readonly isTried?: true;
}

/** The part that the build can store as JSON. */
export type KeptPart = Omit<OwnPart, 'locate'>;
