import { utf8Of } from '../../lib/encoding.js';
import { join } from 'node:path';
import type { GitSetting } from '../../lib/git-config.js';
import { isInside } from '../../lib/real-path.js';
import { ALWAYS, insteadOf, isCredentialHelper, isIrrevocable, UNLESS_USERS } from './programs.js';
import type { Pair } from './variables.js';

/** What overrides the settings of repositories, or why that is not enough. */
export type Overrides = { readonly pairs: readonly Pair[] } | { readonly fault: string };

export interface OverridesRequest {
  /** All settings of repositories. */
  readonly found: readonly GitSetting[];
  /** The settings of the user and the system: they stay in force. */
  readonly users: readonly GitSetting[];
  /** Real paths of folders that the run may write to. */
  readonly roots: readonly string[];
  readonly home: string | undefined;
}

/** No repository has so many names; a command could not be started with many more. */
const MAX_LENGTH = 60_000;

/** Settings that override everything repositories say about programs. */
export function overridesFor(request: OverridesRequest): Overrides {
  const { found, users } = request;
  const irrevocable = found.find(isIrrevocable);
  if (irrevocable)
    return { fault: `a repository sets ${utf8Of(irrevocable.key)}, and that cannot be overridden` };
  const names = replacements(request).map(([key, value]): Pair => [utf8Of(key), utf8Of(value)]);
  const illegible = names.find(([key]) => key.includes('\ufffd'));
  if (illegible) return { fault: `a repository has a setting whose name is not valid text: ${illegible[0]}` };
  if (names.reduce((sum, [key, value]) => sum + key.length + value.length + 40, 0) > MAX_LENGTH)
    return { fault: 'the repositories in the workspace have too many settings that run programs' };
  const fixed = UNLESS_USERS.map(([key, value]): Pair => [key, usersValue(key, request) ?? value]);
  const helpers = users.filter(isCredentialHelper).map(({ key, value }): Pair => [key, String(value)]);
  const credentials: Pair[] = found.some(isCredentialHelper) ? [['credential.helper', ''], ...helpers] : [];
  return { pairs: [...ALWAYS, ...fixed, ...names, ...credentials] };
}

/** The replacements for a repository's settings: the user's own, or harmless ones. */
function replacements({ found, users }: OverridesRequest): Pair[] {
  const own = new Map(users.map(({ key, value }) => [key, String(value)]));
  const pairs = found.flatMap((setting): Pair[] => {
    const instead = insteadOf(setting);
    return instead === undefined ? [] : [[setting.key, own.get(setting.key) ?? instead]];
  });
  return [...new Map(pairs)];
}

function usersValue(key: string, { users, roots, home = '/' }: OverridesRequest): string | undefined {
  const last = (name: string) => users.findLast((setting) => setting.key === name)?.value;
  const value = last(key) ?? (key === 'gpg.openpgp.program' ? last('gpg.program') : undefined);
  if (value === undefined || value === true) return undefined;
  const text = utf8Of(value);
  if (key !== 'core.hookspath') return text;
  // Hooks in a place that a repository could fill are not the user's.
  const place = text.startsWith('~/') ? join(home, text.slice(2)) : text;
  return place.startsWith('/') && !roots.some((root) => isInside(root, place)) ? text : undefined;
}
