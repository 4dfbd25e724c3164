import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isThere } from '../../lib/folders.js';
import { realPath } from '../../lib/real-path.js';

/** Git's lists for going on after a conflict; a line of the first may be any command. */
const LISTS = ['rebase-merge/git-rebase-todo', 'rebase-apply/git-rebase-todo', 'sequencer/todo'];

const RUNS_PROGRAM = /^\s*(?:exec|x)\b/;

/** The lines that run programs, by todo list of git. */
export type TodoLines = ReadonlyMap<string, ReadonlySet<string>>;

/** Those of a repository. An operation may be unfinished when a run begins. */
export function programLines(folder: string): TodoLines {
  return new Map(
    LISTS.map((name) => {
      const path = join(folder, name);
      return [path, new Set(linesOf(path).filter((line) => RUNS_PROGRAM.test(line)))];
    }),
  );
}

/** Removes lines that were added since; returns the lists that had some. */
export function takeOut(before: TodoLines): string[] {
  return [...before].flatMap(([path, known]) => {
    if (!isThere(path)) return [];
    // A link leads to another file; git would follow it.
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
