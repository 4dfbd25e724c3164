import { canonicalJson } from '../lib/canonical-json.js';
import { sha256 } from '../lib/ids.js';

/** The hash of a run's policies, by the contents of their files, wherever those are. */
export function policyHash(documents: readonly object[]): string {
  const placeless = JSON.stringify(documents, (key, value: unknown) =>
    key === 'file' || key === 'place' ? undefined : value,
  );
  return sha256(canonicalJson(JSON.parse(placeless)));
}
