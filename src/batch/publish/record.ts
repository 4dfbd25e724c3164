import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { toJsonLine } from '../../lib/jsonl.js';

/** What was done, for people. Nothing reads it: GitHub itself knows what is published. */
export interface PublishNote {
  readonly repository: string;
  readonly ids: readonly string[];
  readonly keys: readonly string[];
  readonly branch: string;
  readonly commit: string;
  readonly url: string;
}

export function notePublished(folder: string, note: PublishNote): void {
  const line = toJsonLine({ v: 1, timestamp: new Date().toISOString(), ...note });
  appendFileSync(join(folder, 'published.jsonl'), `${line}\n`, { mode: 0o600 });
}
