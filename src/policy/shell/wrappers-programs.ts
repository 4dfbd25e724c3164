import { basename } from 'node:path';
import { wordsOf } from '../../lib/text.js';
import { programName } from './alias-table.js';
import { findTests } from './programs-find.js';
import { literalWord, UNKNOWN_WORD, type ShellWord } from './model.js';
import {
  opaque,
  innerWords,
  type Arguments,
  type InnerCommand,
  type Unwrap,
  type Unwrapped,
} from './unwrapped.js';

const FIND_ACTIONS = new Set(['-exec', '-execdir', '-ok', '-okdir']);

export function unwrapFind(args: Arguments): Unwrapped | undefined {
  const inner: InnerCommand[] = [];
  for (const i of findTests(args)) {
    if (!FIND_ACTIONS.has(args[i]?.literal ?? '')) continue;
    const end = args.findIndex(
      ({ literal }, k) => k > i && (literal === ';' || (literal === '+' && args[k - 1]?.literal === '{}')),
    );
    const command = args.slice(i + 1, end < 0 ? undefined : end);
    inner.push(
      innerWords(command.map((word) => ((word.literal ?? word.text).includes('{}') ? UNKNOWN_WORD : word))),
    );
  }
  return inner.length > 0 ? opaque(...inner) : undefined;
}

/** Options of git whose value is a command line; git accepts abbreviations. */
const GIT_RUNS = wordsOf(`
  exec extcmd env-filter setup tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter
  upload-pack receive-pack open-files-in-pager sendmail-cmd smtp-server to-cmd cc-cmd header-cmd access-hook
`);

/** The same as short options, with the value attached. */
const GIT_RUNS_SHORT: readonly (readonly [string, RegExp])[] = [
  ['rebase', /^-[a-zA-Z0-9]*x(.*)$/s],
  ['difftool', /^-[a-zA-Z0-9]*x(.*)$/s],
  ['grep', /^-[a-zA-Z0-9]*O(.+)$/s],
  ['clone', /^-[a-zA-Z0-9]*u(.*)$/s],
];

/** git also runs commands from its arguments. */
export function unwrapGit(args: Arguments): Unwrapped | undefined {
  const at = args.findIndex(({ literal }) => /^(foreach|run|-x|--exec)$/.test(literal ?? ''));
  const inner: InnerCommand[] = at < 0 ? [] : [{ type: 'suffixes', words: args.slice(at + 1) }];
  const short = GIT_RUNS_SHORT.find(([name]) => args.some(({ literal }) => literal === name))?.[1];
  args.forEach((word, i) => {
    const text = word.literal ?? word.prefix;
    const [, name = '', value] = /^--([a-z-]{3,})(?:=(.*))?$/s.exec(text) ?? [];
    const long = GIT_RUNS.some((option) => name !== '' && option.startsWith(name))
      ? (value ?? '')
      : undefined;
    const glued = long ?? short?.exec(text)?.[1];
    if (glued === undefined) return;
    const source = glued === '' ? args[i + 1]?.literal : word.literal && glued;
    if (source === undefined)
      inner.push({ type: 'unknown', reason: `what git ${word.text} runs is not known` });
    else inner.push({ type: 'script', source, dialect: 'sh', words: [] });
  });
  return inner.length > 0 ? opaque(...inner) : undefined;
}

/** A command may begin at any of the words, or in the value of an option: `--call='git push'`. */
export const suffixes: Unwrap = (args) =>
  opaque({ type: 'suffixes', words: args.flatMap((word) => [word, ...optionValue(word)]) });

function optionValue({ literal = '' }: ShellWord): ShellWord[] {
  const [, long, short] = /^(?:-[^=]*=(.+)|-[A-Za-z](.*\s.*))$/s.exec(literal) ?? [];
  const value = long ?? short;
  return value === undefined ? [] : [literalWord(value)];
}

/** `python -m pip` is pip. */
export function unwrapPython(args: Arguments): Unwrapped | undefined {
  for (let i = 0; i < args.length; i++) {
    const text = args[i]?.literal;
    if (text === undefined) return suffixes(args);
    const [, glued] = /^-[A-Za-z]*m(.*)$/s.exec(text) ?? [];
    if (glued === '') return suffixes(args.slice(i + 1));
    if (glued !== undefined) return suffixes([literalWord(glued), ...args.slice(i + 1)]);
    if (!text.startsWith('-') || /^-[A-Za-z]*c/.test(text)) return undefined;
    if (/^-[A-Za-z]*[WX]$/.test(text)) i++;
  }
  return undefined;
}

/** `node …/npm-cli.js` is npm. */
export function unwrapNode(args: Arguments): Unwrapped | undefined {
  const at = args.findIndex(({ literal }) => literal !== undefined && !literal.startsWith('-'));
  const script = basename(args[at]?.literal ?? '');
  return programName(script) === script.toLowerCase() ? undefined : suffixes(args.slice(at));
}

/** `jobs -x git push` is `git push`. */
export function unwrapJobs(args: Arguments): Unwrapped | undefined {
  const at = args.findIndex(({ literal, prefix }) => /^-[a-z]*x/.test(literal ?? prefix));
  return at < 0 ? undefined : opaque(innerWords(args.slice(at + 1)));
}
