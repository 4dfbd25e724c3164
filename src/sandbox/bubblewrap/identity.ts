import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findSystemProgram } from '../../lib/find-program.js';
import { runProgram } from '../../lib/run-program.js';

const WANTED = '^(user\\.name|user\\.email|init\\.defaultbranch|safe\\.directory)$';
const PATIENCE_MS = 2000;

/** The user's own git settings as far as commits need them; the rest of the home is not shown. */
export async function gitIdentity(
  environment: Readonly<Record<string, string>>,
  workspace: string,
  signal: AbortSignal,
): Promise<string> {
  // Whoever the owner is: in the sandbox it may be unknown.
  const owned = setting('safe.directory', workspace);
  const git = findSystemProgram('git');
  if (git === undefined) return '';
  if (!hasSettings(environment)) return owned;
  const end = await runProgram({
    file: git,
    args: ['config', '--global', '--null', '--get-regexp', WANTED],
    // Not in the workspace, whose settings do not count here.
    directory: '/',
    environment,
    timeoutMs: PATIENCE_MS,
    maxBytes: 100_000,
    signal,
  });
  const found = end.type === 'ended' ? end.stdout.toString('utf8').split('\0').filter(Boolean) : [];
  const settings = found.map((entry) => {
    const [key = '', ...value] = entry.split('\n');
    return setting(key, value.join('\n'));
  });
  return [...settings, owned].join('');
}

/** Whether there is a file that git would look into. */
function hasSettings({
  GIT_CONFIG_GLOBAL: named,
  HOME: home = '',
  XDG_CONFIG_HOME: folder = '',
}: Readonly<Record<string, string | undefined>>): boolean {
  const files = [join(home, '.gitconfig'), join(folder || join(home, '.config'), 'git/config')];
  return named !== undefined || files.some((file) => existsSync(file));
}

function setting(key: string, value: string): string {
  const [section, name] = key.split('.');
  const quoted = value.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`);
  return `[${section}]\n\t${name} = "${quoted}"\n`;
}
