import { dirname, join } from 'node:path';
import { errorCode } from '../../../lib/errors.js';
import { fnmatch } from '../../../lib/fnmatch.js';
import { pathFrom } from '../../../lib/real-path.js';
import { readRegularFile } from '../../../lib/regular-file.js';
import { gitIndexOf } from './disk.js';
import { remembered } from './memory.js';

const FILES = ['.gitignore', '.ignore', '.rgignore', '.git/info/exclude'];
const MAX_BYTES = 100_000;

type NameTest = (name: string) => boolean;

/** Whether an ignore file could make a search read a dot file in a folder after all: `!.env`. */
export function bringsBack(folder: string, name: string): boolean {
  for (let place = folder; ; place = dirname(place)) {
    if (FILES.some((file) => exceptionsIn(join(place, file)).some((fits) => fits(name)))) return true;
    if (dirname(place) === place) return false;
  }
}

/**
 * Whether `git add` certainly adds nothing new with a file: it is tracked, or an ignore file names it or a folder
 * above it, and none takes that back.
 */
export function isIgnored(path: string): boolean {
  const index = gitIndexOf(dirname(path));
  if (typeof index !== 'object') return false;
  const { top } = index;
  if (index.has(pathFrom(top, path))) return true;
  const steps = pathFrom(top, path).split('/');
  const places = steps.map((_, i) => join(top, ...steps.slice(0, i)));
  if (steps.some((name, i) => bringsBack(places[i] as string, name))) return false;
  return places.some((place, i) => {
    const below = steps.slice(i);
    const files = i === 0 ? ['.gitignore', '.git/info/exclude'] : ['.gitignore'];
    return files.some((file) =>
      (ignoreLines(join(place, file)) ?? []).some((line) => lineNames(line.trimEnd(), below)),
    );
  });
}

/** Whether a line of an ignore file clearly matches a path. */
function lineNames(line: string, steps: readonly string[]): boolean {
  const [body, isAnchored] = [line.replace(/^\/|\/$/g, ''), line.slice(0, -1).includes('/')];
  if (body === '' || /^[#!]/.test(line)) return false;
  if (isAnchored) return `${steps.join('/')}/`.startsWith(`${body}/`);
  const fits = fnmatch(body);
  // With a slash at its end, it only names folders.
  return steps.slice(0, line.endsWith('/') ? -1 : undefined).some((step) => fits?.(step));
}

function exceptionsIn(file: string): readonly NameTest[] {
  return remembered('ignore', file, () => {
    const lines = ignoreLines(file);
    if (!lines) return [() => true];
    return lines.filter((line) => line.startsWith('!')).map((line) => lastSegment(line.slice(1)));
  });
}

function lastSegment(pattern: string): NameTest {
  const segment = pattern.trimEnd().replace(/\/+$/, '').split('/').at(-1) ?? '';
  return (segment === '' ? undefined : fnmatch(segment)) ?? (() => true);
}

/** Undefined if it exists but cannot be read. */
function ignoreLines(file: string): string[] | undefined {
  try {
    return readRegularFile(file, MAX_BYTES).bytes.toString('utf8').split('\n');
  } catch (error) {
    return /^(ENOENT|ENOTDIR|EACCES|EISDIR)$/.test(errorCode(error) ?? '') ? [] : undefined;
  }
}
