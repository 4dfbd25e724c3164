import { wordsOf } from '../../lib/text.js';
import { mayBeOption, type Hazard, type ShellWord } from './model.js';

/** Tests that take the next word, whatever it looks like. */
const VALUED = new Set(
  wordsOf(`
    -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -newer -anewer -cnewer -samefile
    -user -group -perm -size -type -xtype -mtime -atime -ctime -mmin -amin -cmin -uid -gid -inum -links -maxdepth
    -mindepth -fstype
  `),
);

/** Actions that run programs, or write or remove files. */
const ACTS = /^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/;

/** Tests, actions and options that surely take no value. */
const BARE = new Set(
  wordsOf(`
    -print -print0 -ls -prune -quit -empty -readable -writable -executable -nouser -nogroup -depth -mount -xdev -follow
    -daystart -true -false -not -and -or -a -o -H -L -P
  `),
);

/**
 * The indices of find's arguments that are tests or actions, and not the value of a test: `-name '-exec'` only looks
 * for a name. All of them, if it is not clear whether one takes a value: `-D -name -exec id` runs id.
 */
export function findTests(args: readonly ShellWord[]): number[] {
  const found: number[] = [];
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as ShellWord;
    const text = word.literal ?? '';
    const isClear = !mayBeOption(word) || VALUED.has(text) || BARE.has(text) || ACTS.test(text);
    if (!isClear) return [...args.keys()];
    found.push(i);
    if (VALUED.has(text)) i++;
  }
  return found;
}

export function findHazard(words: readonly ShellWord[], named = 0): Hazard | undefined {
  const at = findTests(words).find(
    (i) => i >= named && ACTS.test(words[i]?.literal ?? words[i]?.prefix ?? ''),
  );
  if (at === undefined) return undefined;
  return { index: at, reason: `${words[at]?.text} makes find do more than the rule says` };
}
