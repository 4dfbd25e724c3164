import { resolve } from 'node:path';
import { publicKeyIn } from '../lib/ed25519.js';
import { fileHash } from '../lib/file-hash.js';
import type { RuleSet } from './fold.js';
import type { LockedFile } from './lock.js';
import { approversIn } from './on-ask.js';
import { policyFolder } from './place.js';
import { readSource } from './source.js';

/**
 * Files that decide with a policy and are not in it: the keys that answers must be signed with, and the programs that it
 * starts itself, as far as their command lines name files. By the names that the policy uses.
 */
export async function filesBeside(
  set: Pick<RuleSet, 'sources' | 'onAsk' | 'servers' | 'discovery'>,
  workspace: string,
): Promise<LockedFile[]> {
  const found = new Map<string, string>();
  const note = (name: string, folder: string) => {
    const hash = fileHash(resolve(folder, name));
    if (hash !== undefined) found.set(name, hash);
  };
  for (const { file } of set.sources) {
    const source = await readSource(file);
    for (const key of keysIn(source.value))
      if (publicKeyIn(key) === undefined) note(key, policyFolder(source));
  }
  for (const command of commandsOf(set))
    for (const [i, word] of command.entries())
      for (const name of namesIn(word))
        // A program without a folder is looked up, and one with an absolute path belongs to the machine.
        if (!name.startsWith('/') && (i > 0 || name.includes('/'))) note(name, workspace);
  return [...found]
    .map(([file, sha256]) => ({ file, sha256 }))
    .toSorted((a, b) => a.file.localeCompare(b.file));
}

/** A file, the value of an option, or the files in a script: `bash -c 'node server.js'`. */
function namesIn(word: string): ReadonlySet<string> {
  const value = word.replace(/^-[^=]*=/, '');
  const inside = value.split(/[\s;&|()<>'"]+/).filter((name) => /[./]/.test(name));
  return new Set([value, ...inside]);
}

function keysIn({ approvals }: Readonly<Record<string, unknown>>): readonly string[] {
  return (approvals as { readonly trusted_keys?: readonly string[] } | undefined)?.trusted_keys ?? [];
}

function commandsOf(set: Pick<RuleSet, 'onAsk' | 'servers' | 'discovery'>): (readonly string[])[] {
  const { servers, discovery } = set;
  return [
    ...approversIn([set]).map(({ command }) => command),
    ...servers.flatMap(({ connection }) => (connection.type === 'stdio' ? [connection.command] : [])),
    ...(discovery ? [discovery.list, discovery.call] : []),
  ];
}

/** Why files beside a policy differ from those that were locked. */
export function besideFault(locked: readonly LockedFile[], now: readonly LockedFile[]): string | undefined {
  const hashOf = (files: readonly LockedFile[], name: string) =>
    files.find(({ file }) => file === name)?.sha256;
  for (const { file, sha256 } of now) {
    const before = hashOf(locked, file);
    if (before === undefined) return `${file}, which it uses, is new`;
    if (before !== sha256) return `${file}, which it uses, has changed`;
  }
  const gone = locked.find(({ file }) => hashOf(now, file) === undefined);
  return gone && `${gone.file}, which it uses, is gone`;
}
