import { join, resolve } from 'node:path';
import { attempt } from './attempt.js';
import { realPathIfSeen } from './real-path.js';
import { readRegularFile } from './regular-file.js';

/** A folder of objects that a repository borrows. */
export interface Alternate {
  /** The path in the file that names it, made absolute. */
  readonly named: string;
  /** Where that leads. */
  readonly real: string;
}

/** Git does not follow longer chains, either. */
const MAX_DEPTH = 5;
/** More is not a normal repository. */
const MAX_ALTERNATES = 100;

/**
 * The folders that a folder of objects borrows from, directly or not. What `follow` rejects is left out, with
 * everything that it borrows from.
 */
export function alternatesOf(objects: string, follow: (alternate: Alternate) => boolean): Alternate[] {
  const seen = new Set([realPathIfSeen(objects)]);
  const found: Alternate[] = [];
  const visit = (folder: string, depth: number): void => {
    for (const entry of alternatesIn(folder)) {
      const named = resolve(folder, entry);
      const real = realPathIfSeen(named);
      if (seen.has(real) || seen.size > MAX_ALTERNATES) continue;
      seen.add(real);
      if (!follow({ named, real })) continue;
      found.push({ named, real });
      if (depth < MAX_DEPTH) visit(real, depth + 1);
    }
  };
  visit(realPathIfSeen(objects), 0);
  return found;
}

export function alternatesFile(objects: string): string {
  return join(objects, 'info', 'alternates');
}

/** The text of such a file. A path with a newline is quoted, which JSON does like git. */
export function alternatesText(paths: readonly string[]): string {
  return paths.map((path) => `${path.includes('\n') ? JSON.stringify(path) : path}\n`).join('');
}

/** One path per line. Git quotes unusual ones; a quoted line that is not JSON is not understood. */
function alternatesIn(objects: string): string[] {
  const text =
    attempt(() => readRegularFile(alternatesFile(objects), 1_000_000).bytes.toString('utf8')) ?? '';
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.flatMap((line) =>
    line.startsWith('"') ? (attempt(() => JSON.parse(line) as string) ?? []) : [line],
  );
}
