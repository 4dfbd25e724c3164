import { nearest } from '../../lib/nearest.js';
import type { Path } from '../../lib/yaml.js';
import { policyProblem, type PolicySource } from '../place.js';
import { TOOL_NAMES, toolsMeant } from '../tool-names.js';

/** The tools that a pattern in a policy means; it is an error if there are none. */
export function nameTools(
  pattern: string,
  source: PolicySource,
  path: Path,
  wider: { readonly also: boolean },
): string[] {
  const meant = toolsMeant(pattern, wider);
  if (meant.length > 0) return meant;
  const near = nearest(pattern, TOOL_NAMES);
  const guess = near ? ` (did you mean \`${near}\`?)` : '';
  throw policyProblem(source, path, `there is no tool \`${pattern}\`${guess}`);
}
