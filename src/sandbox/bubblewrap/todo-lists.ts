import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isThere } from '../../lib/folders.js';
import { realPath } from '../../lib/real-path.js';

/** What git goes on with after a conflict; a line of the first may be any command. */
const LISTS = ['rebase-merge/git-rebase-todo', 'rebase-apply/git-rebase-todo', 'sequencer/todo'];

const RUNS_PROGRAM = /^\s*(?:exec|x)\b/;

/** The lines of git's lists of things to do that run programs, by list. */
export type TodoLines = ReadonlyMap<string, ReadonlySet<string>>;

/** Those of a repository. Somebody may be in the middle of something when a run begins. */
export function programLines(folder: string): TodoLines {
  return new Map(
    LISTS.map((name) => {
      const path = join(folder, name);
      return [path, new Set(linesOf(path).filter((line) => RUNS_PROGRAM.test(line)))];
    }),
  );
}

/** Takes out lines that have come in since; returns the lists that had some. */
export function takeOut(before: TodoLines): string[] {
  return [...before].flatMap(([path, known]) => {
    if (!isThere(path)) return [];
    // A link leads to what is somebody else's; git would follow it.
    if (attempt(() => realPath(path)) !== path || !lstatSync(path).isFile()) {
      rmSync(isLink(dirname(path)) ? dirname(path) : path, { recursive: true, force: true });
      return [path];
    }
    const lines = linesOf(path);
    const kept = lines.filter((line) => !RUNS_PROGRAM.test(line) || known.has(line));
    if (kept.length === lines.length) return [];
    writeFileSync(path, kept.join('\n'));
    return [path];
  });
}

function isLink(path: string): boolean {
  return attempt(() => lstatSync(path).isSymbolicLink()) ?? false;
}

function linesOf(path: string): string[] {
  return attempt(() => readFileSync(path, 'latin1'))?.split('\n') ?? [];
}
