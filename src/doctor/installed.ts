import { basename } from 'node:path';
import { runProgram } from '../lib/run-program.js';
import { oneLine } from '../lib/text.js';
import { fail, ok, warn, type Finding } from './finding.js';

/** What package.json asks for. */
const NODE = [20, 19] as const;
const PATIENCE_MS = 10_000;

export function nodeFinding(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > NODE[0] || (major === NODE[0] && minor >= NODE[1]);
  if (isNew) return ok('node', version);
  const hint = `Install Node ${NODE.join('.')} or a later version.`;
  return fail('node', 'config_error', `Node ${version} is too old`, hint);
}

/** Programs that Bosun starts itself, as it would find them. */
export interface InstalledPrograms {
  readonly git: string | undefined;
  readonly shell: string;
  readonly ripgrep: string | undefined;
}

export async function programFindings(
  { git, shell, ripgrep }: InstalledPrograms,
  signal: AbortSignal,
): Promise<Finding[]> {
  const [gitVersion, bashVersion, ripgrepVersion] = await Promise.all(
    [git, basename(shell) === 'bash' ? shell : undefined, ripgrep].map(
      async (file) => file && versionOf(file, signal),
    ),
  );
  return [
    gitVersion
      ? ok('git', `${gitVersion} (${git})`)
      : warn(
          'git',
          `${missing(git)}, so changes cannot be shown as a patch, and tasks of a batch get no clones of their own`,
          'Install git.',
        ),
    bashVersion
      ? ok('bash', `${bashVersion} (${shell})`)
      : warn('bash', `no working bash on the PATH, so command lines run in ${shell}`, 'Install bash.'),
    ripgrepVersion
      ? ok('ripgrep', `${ripgrepVersion} (${ripgrep})`)
      : warn(
          'ripgrep',
          `${missing(ripgrep)}, so searching large workspaces is slower`,
          'Reinstall Bosun with its optional dependencies, or install ripgrep.',
        ),
  ];
}

function missing(file: string | undefined): string {
  return file === undefined ? 'it is not installed' : `${file} does not work`;
}

/** The first number of several parts that it prints about itself; undefined if it does not run. */
async function versionOf(file: string, signal: AbortSignal): Promise<string | undefined> {
  const end = await runProgram({
    ...{ file, args: ['--version'], directory: '/', environment: { LC_ALL: 'C' }, signal },
    ...{ timeoutMs: PATIENCE_MS, maxBytes: 10_000 },
  });
  if (end.type === 'failed' || end.code !== 0) return undefined;
  const [line = ''] = end.stdout.toString('utf8').split('\n');
  return /\d+(\.\d+)+/.exec(line)?.[0] ?? oneLine(line, 80);
}
