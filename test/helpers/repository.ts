import { execFileSync } from 'node:child_process';

const IDENTITY = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
const MADE = ['init -q --template= -b main .', 'add -A', 'commit -qm first'];

/** Runs git, with each line as its arguments. One shell for all: a large process takes long to start another. */
export function runGits(folder: string, lines: readonly string[]): void {
  const git = ['git', ...IDENTITY, '-c maintenance.auto=false'].join(' ');
  const script = lines.map((line) => `${git} ${line}`).join('\n');
  execFileSync('sh', ['-ec', script], { cwd: folder, stdio: 'pipe' });
}

/** Makes a repository of a folder, and of its files the first commit. */
export function makeRepository(folder: string): void {
  runGits(folder, MADE);
}
