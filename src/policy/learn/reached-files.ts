import { dirname, join, normalize } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isFile, readRegularFile } from '../../lib/regular-file.js';

const MAX_FILES = 200;
const MAX_BYTES = 256 * 1024;

/** A text that may name files, and the folder they are relative to. */
export interface Text {
  readonly folder: string;
  readonly text: string;
  /** What a word must contain to be the name of a file. */
  readonly names?: RegExp;
}

export interface Place {
  readonly workspace: string;
  /** Whether a path means a file even if there is none (any more). */
  readonly isThere: (path: string) => boolean;
}

const ENDINGS = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '.json', '.sh', '.py', '/index.js', '/index.ts'];

/** Every file that is named, directly or by such a file. Undefined if there are too many to read. */
export function filesReached(start: readonly Text[], place: Place): ReadonlySet<string> | undefined {
  const reached = new Set<string>();
  const texts = [...start];
  for (let text = texts.pop(); text; text = texts.pop()) {
    for (const file of namedIn(text, place)) {
      if (reached.has(file)) continue;
      reached.add(file);
      if (reached.size > MAX_FILES) return undefined;
      const content = readText(join(place.workspace, file));
      // Code names a file with its folder or its ending; a bare word usually is none.
      if (content !== undefined) texts.push({ folder: dirname(file), text: content, names: /[./]/ });
    }
  }
  return reached;
}

/** The files that a text names itself. */
export function namedIn({ folder, text, names }: Text, place: Place): Set<string> {
  const words = new Set(text.match(/[\w@.][\w@./-]*/g) ?? []);
  const found = new Set<string>();
  const isThere = (path: string) => place.isThere(path) || isFile(join(place.workspace, path));
  for (const word of words) {
    if (names && !names.test(word)) continue;
    for (const base of new Set(['.', folder])) {
      const path = normalize(join(base, word));
      if (path.startsWith('..') || path.includes('node_modules')) continue;
      const file = ENDINGS.map((ending) => path + ending).find(isThere);
      if (file !== undefined) found.add(file);
    }
  }
  return found;
}

export function readText(path: string): string | undefined {
  return attempt(() => readRegularFile(path, MAX_BYTES).bytes.toString('utf8'));
}
