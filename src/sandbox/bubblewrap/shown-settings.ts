import { dirname, resolve } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { parseGitConfig, printGitConfig, type GitSetting } from '../../lib/git-config.js';
import { isInside } from '../../lib/real-path.js';
import { readRegularFile } from '../../lib/regular-file.js';
import type { GitTrust } from '../../protocol/sandbox.js';
import { runsPrograms } from '../git/programs.js';

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 10;
/** Git stops at it, and shows it. */
const MALFORMED = 'Bosun cannot read these settings.\n';

/** A git settings file as the sandbox shows it: without what gives access, and without programs unless trusted. */
export function shownSettings(file: string, root: string, trust: GitTrust): Buffer {
  const settings = trust === 'repository' ? settingsIn(file) : flattened(file, root);
  if (!settings) return Buffer.from(MALFORMED);
  const kept = trust === 'repository' ? settings : settings.filter((setting) => !runsPrograms(setting));
  return printGitConfig(kept.filter(({ key }) => !CREDENTIAL.test(key)).map(withoutPassword));
}

/** Tokens in headers and elsewhere, and programs that supply others. */
const CREDENTIAL = /(extraheader|helper|password|token|smtppass)$/;

/** Addresses, in names and in values, without their users and passwords. */
function withoutPassword({ key, value }: GitSetting): GitSetting {
  const clean = (text: string) => text.replaceAll(/(\w+:\/\/)[^\s/@"]+@/g, '$1');
  return { key: clean(key), value: value === true ? true : clean(value) };
}

/** What a file includes from the workspace is copied into it: nothing written later is obeyed. */
function flattened(file: string, root: string, depth = 0): GitSetting[] | undefined {
  return settingsIn(file)?.flatMap((setting) => {
    const { key, value } = setting;
    if (!/^include(if\..*)?\.path$/s.test(key)) return [setting];
    const path = resolve(dirname(file), Buffer.from(String(value), 'latin1').toString('utf8'));
    const isOurs = key === 'include.path' && isInside(root, path) && depth < MAX_DEPTH;
    return (isOurs && flattened(path, root, depth + 1)) || [];
  });
}

function settingsIn(file: string): GitSetting[] | undefined {
  const bytes = attempt(() => readRegularFile(file, MAX_BYTES).bytes);
  return bytes && parseGitConfig(bytes);
}
