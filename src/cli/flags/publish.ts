import { InvalidArgumentError } from 'commander';
import { parseSize } from '../../lib/size.js';
import { sameHelp, type FlagTable, type FlagValues } from './row.js';
import { COUNT, oneOf, SOME, SWITCH, text, type Takes } from './takes.js';

const SIZE: Takes<number> = {
  shown: '<size>',
  read(words) {
    const bytes = parseSize(words);
    if (!bytes) throw new InvalidArgumentError('Give a size with a unit, such as 512KiB or 1MiB.');
    return bytes;
  },
};

const BRANCH: Takes<string> = {
  shown: '<branch>',
  read(words) {
    const isName =
      /^(?![-./])(?!.*(?:\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)))[^\s~^:?*[\\\u0000-\u001f\u007f]+$/.test(words);
    if (isName && !/[./]$/.test(words)) return words;
    throw new InvalidArgumentError('Give the name of a branch, such as main.');
  },
};

const AUTHOR: Takes<string> = {
  shown: '<author>',
  read(words) {
    if (/^[^<>\u0000-\u001f\u007f]*[^<>\s\u0000-\u001f\u007f] <[^<>\s]+>$/.test(words)) return words;
    throw new InvalidArgumentError("Give a name and an address, such as 'Bosun <bosun@example.org>'.");
  },
};

const BOTH = ['batch publish', 'publish'] as const;

/** Flags of `bosun batch publish` and `bosun publish`. */
export const PUBLISH_FLAGS = {
  repo: { takes: text('owner/name'), in: sameHelp('the repository on GitHub', ...BOTH) },
  base: {
    takes: BRANCH,
    in: sameHelp('the branch that pull requests are for (default: the default branch)', ...BOTH),
  },
  draft: { takes: SWITCH, in: sameHelp('open drafts', ...BOTH) },
  group: {
    takes: oneOf('what', ['none', 'folder', 'all']),
    in: { 'batch publish': 'one pull request for each task, for each top folder, or for all' },
    default: { value: 'none' },
  },
  'max-open': {
    takes: SOME,
    in: sameHelp('how many pull requests of Bosun may be open in the repository', ...BOTH),
    default: { value: 10 },
  },
  'per-hour': {
    takes: COUNT,
    in: sameHelp('how many may be opened within an hour; 0: any number', ...BOTH),
    default: { value: 2 },
  },
  'max-patch': {
    takes: SIZE,
    in: sameHelp('refuse larger patches', ...BOTH),
    default: { value: 2 ** 20, shown: '1MiB' },
  },
  author: {
    takes: AUTHOR,
    in: sameHelp('author and committer; others make other commits', ...BOTH),
    default: { value: 'Bosun <bosun@users.noreply.github.com>' },
  },
  'dry-run': {
    takes: SWITCH,
    in: sameHelp('push and open nothing: show what would happen', ...BOTH),
  },
  'output-format': {
    short: 'o',
    takes: oneOf('format', ['text', 'json']),
    group: 'What comes out:',
    in: sameHelp('what goes to stdout', ...BOTH),
    default: { value: 'text' },
  },
} as const satisfies FlagTable;

export type PublishFlags = FlagValues<typeof PUBLISH_FLAGS, 'publish'> &
  FlagValues<typeof PUBLISH_FLAGS, 'batch publish'> & { readonly cwd?: string };
