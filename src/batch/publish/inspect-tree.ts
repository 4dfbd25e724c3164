import type { Redactor } from '../../lib/redact/redactor.js';
import { posix } from 'node:path';
import type { FileLines } from './body.js';
import type { Workshop } from './workshop.js';

/** One file that differs between two trees. */
export interface TreeChange extends FileLines {
  readonly before: { readonly mode: string; readonly blob: string };
  readonly after: { readonly mode: string; readonly blob: string };
}

/** More is not read to look for secrets. */
const MAX_CONTENT = 64 * 1024 * 1024;
const LINK = '120000';
const SUBMODULE = '160000';
const NO_FILE = '000000';

export async function treeChanges({ git }: Workshop, from: string, to: string): Promise<TreeChange[]> {
  const how = [
    '-r',
    '-z',
    '--raw',
    '--numstat',
    '--no-abbrev',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
  ];
  const fields = (await git('diff-tree', ...how, from, to)).split('\0').filter(Boolean);
  const files: Omit<TreeChange, 'added' | 'removed'>[] = [];
  const lines = new Map<string, Pick<TreeChange, 'added' | 'removed'>>();
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? '';
    if (field.startsWith(':')) {
      const [modeA = '', modeB = '', blobA = '', blobB = ''] = field.slice(1).split(' ');
      const path = fields[++at] ?? '';
      files.push({ path, before: { mode: modeA, blob: blobA }, after: { mode: modeB, blob: blobB } });
    } else {
      const [, added = '', removed = '', path = ''] = /^(\S+)\t(\S+)\t([^]*)$/.exec(field) ?? [];
      lines.set(path, { added: numberIn(added), removed: numberIn(removed) });
    }
  }
  return files.map((file) => ({ ...file, ...(lines.get(file.path) ?? UNCOUNTED) }));
}

const UNCOUNTED = { added: undefined, removed: undefined };
const numberIn = (text: string) => (text === '-' ? undefined : Number(text));

export interface TreeRules {
  readonly fault: (path: string) => string | undefined;
  readonly redactor: Redactor;
}

/**
 * Why changes may not be published, if so. This looks at the trees themselves: what a patch makes of the branch that it is for,
 * whatever it says.
 */
export async function treeFault(
  workshop: Workshop,
  changes: readonly TreeChange[],
  { fault, redactor }: TreeRules,
): Promise<string | undefined> {
  for (const { path, before, after } of changes) {
    // Git's names are bytes; such a name could be another one than the one that we check.
    if (path.includes('\ufffd')) return `${path} is not a name in UTF-8`;
    const why = fault(path);
    if (why !== undefined) return why;
    if ([before.mode, after.mode].includes(SUBMODULE)) return `${path} is a submodule`;
    if (/(?:^|\/)\.gitmodules$/i.test(path)) return `${path} says where submodules come from`;
    if (redactor.text(path) !== path) return `the name ${redactor.text(path)} holds a secret`;
    if (after.mode === LINK) {
      const target = await workshop.git('cat-file', 'blob', after.blob);
      const way = linkFault(path, target);
      if (way !== undefined) return way;
    }
  }
  return (await sizeFault(workshop, changes)) ?? (await secretFault(workshop, changes, redactor));
}

/** A link may lead to a place in the repository that is not protected. */
export function linkFault(path: string, target: string): string | undefined {
  const place = posix.normalize(posix.join(posix.dirname(path), target));
  if (target.startsWith('/') || place === '..' || place.startsWith('../'))
    return `${path} is a link that leads out of the repository`;
  // `..` behind a link leads to where the link leads.
  if (/[^./][^/]*\/+(?:\.\/+)*\.\.(?:\/|$)/.test(target))
    return `${path} is a link whose way cannot be followed`;
  return /(?:^|\/)\.git(?:\/|$)/i.test(place) ? `${path} is a link that leads into .git` : undefined;
}

async function sizeFault(workshop: Workshop, changes: readonly TreeChange[]): Promise<string | undefined> {
  const files = changes.filter(({ after }) => after.mode !== NO_FILE);
  const sizes = await workshop.sizes(files.map(({ after }) => after.blob));
  let sum = 0;
  const large = files.find((_, at) => (sum += sizes[at] ?? 0) > MAX_CONTENT);
  return large && `${large.path} is too large to look for secrets in it`;
}

async function secretFault(
  { git }: Workshop,
  changes: readonly TreeChange[],
  redactor: Redactor,
): Promise<string | undefined> {
  for (const { path, before, after } of changes) {
    if (after.mode === NO_FILE || after.blob === before.blob) continue;
    const isNew = before.mode === NO_FILE;
    const how = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--text', '-U0', '--no-renames'];
    const text = isNew
      ? await git('cat-file', 'blob', after.blob)
      : addedLines(await git(...how, before.blob, after.blob));
    if (hasSecret(redactor, text)) return `${path}: what is added holds a secret`;
  }
  return undefined;
}

function hasSecret(redactor: Redactor, text: string): boolean {
  return redactor.text(text) !== text;
}

/** Of a diff without context. Counts, because any line may look like the head of another piece. */
export function addedLines(diff: string): string {
  const lines = diff.split('\n');
  const added: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, removed = '1', count = '1'] =
      /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[at] ?? '') ?? [];
    if (!lines[at]?.startsWith('@@ ')) continue;
    let left = Number(removed) + Number(count);
    while (left > 0 && ++at < lines.length) {
      const line = lines[at] ?? '';
      if (line.startsWith('\\')) continue;
      left--;
      if (line.startsWith('+')) added.push(line.slice(1));
    }
  }
  return added.join('\n');
}
