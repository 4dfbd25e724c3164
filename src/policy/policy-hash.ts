import { canonicalJson } from '../lib/canonical-json.js';
import { sha256 } from '../lib/ids.js';

/** The policies of a run, wherever their files lie on this machine. What is in the files is in the hash. */
export function policyHash(documents: readonly object[]): string {
  const placeless = JSON.stringify(documents, (key, value: unknown) =>
    key === 'file' || key === 'place' ? undefined : value,
  );
  return sha256(canonicalJson(JSON.parse(placeless)));
}
