import { wordsOf } from '../../lib/text.js';
import type { Hazard, ShellWord } from './model.js';
import type { ProgramHazards } from './options.js';
import { awkHazard } from './programs-awk.js';
import { findHazard } from './programs-find.js';
import { sedHazard } from './programs-sed.js';

/** Programs that mostly search, filter, print or transfer, and what makes them run others or write other files. */
export const READERS: Readonly<Record<string, ProgramHazards>> = {
  find: { check: findHazard },
  fd: { long: wordsOf('exec exec-batch list-details'), short: 'xXl' },
  tar: {
    long: wordsOf(`
      checkpoint-action to-command use-compress-program rsh-command rmt-command info-script
      new-volume-script extract get absolute-names files-from remove-files index-file volno-file
      directory delete append update create concatenate catenate multi-volume tape-length listed-incremental
    `),
    fine: ['file', 'list', 'verbose', 'gzip', 'exclude', 'to-stdout'],
    check: tarHazard,
  },
  sed: {
    long: ['in-place', 'file'],
    short: 'if',
    check: (words, named) => sedHazard(words, undefined, named),
  },
  awk: {
    long: wordsOf('file exec include load source profile pretty-print dump-variables debug'),
    short: 'fEilepoDdW',
    check: (words, named) => awkHazard(words, false, named),
  },
  sort: { long: wordsOf('compress-program output temporary-directory files0-from'), short: 'oT' },
  // Whatever their words become is only counted.
  wc: { takesText: true, long: ['files0-from'] },
  du: { takesText: true, long: ['files0-from'] },
  uniq: { check: (words) => secondOperand(words, /^-[fsw]$|^--(skip|check)-[a-z]*$/) },
  xxd: { check: (words) => secondOperand(words, /^-(c|cols|g|groupsize|l|len|n|name|o|s|seek|R)$/) },
  iconv: { long: ['output'], short: 'o' },
  rg: { long: wordsOf('pre pre-glob hostname-bin search-zip ignore-file file'), short: 'zf' },
  ag: { long: ['pager'] },
  ack: { long: wordsOf('pager ackrc output') },
  bat: { long: wordsOf('pager config-file'), words: /^cache$/ },
  xargs: { long: ['arg-file'], short: 'a' },
  man: { long: wordsOf('pager html preprocessor config-file gxditview'), short: 'PHC' },
  less: { words: /.*/ },
  more: { words: /.*/ },
  date: { long: ['set', 'file'], words: /^\d|^-[uR]*[sf]/ },
  tree: { short: 'oR' },
  file: { short: 'Cf', long: ['compile', 'files-from'] },
  jq: {
    long: wordsOf('from-file run-tests library-path'),
    short: 'fL',
    words: /(?<![.\w])(import|include)\b/,
    check: jqHazard,
  },
  yq: { long: wordsOf('inplace in-place split-exp split-exp-file from-file'), short: 'is' },
  xmllint: { anyDashes: true, long: wordsOf('output shell'), short: 'o' },
  xsltproc: { anyDashes: true, long: wordsOf('output writesubtree load-trace'), short: 'o' },
  pandoc: {
    long: wordsOf(`
      output filter lua-filter pdf-engine pdf-engine-opt extract-media data-dir defaults log template syntax-definition
    `),
    short: 'oFLd',
    words: /\.lua$/,
  },
  diff: { short: 'l', long: ['paginate'] },
  cloc: {
    long: wordsOf('out report-file extract-with config strip-comments strip-code write-lang-def sql-append'),
  },
  scc: { long: wordsOf('output format-multi'), short: 'o' },
  dot: { short: 'oOc' },
  openssl: { words: /^--?([a-z]*out|writerand|[a-z_]*engine|provider(-path)?|config)$/i },
  hostname: { words: /^[^-]|^-[a-zA-Z]*[bF]|^--(b|fi)/ },
  dmesg: { long: wordsOf('clear read-clear console-on console-off console-level'), short: 'CcDEn' },
  ss: { long: ['kill'], short: 'K' },
  // The value of -S would be read as an operand.
  ...Object.fromEntries(
    ['cp', 'mv', 'ln', 'install'].map((name) => [name, { takesText: true, long: ['suffix'], short: 'S' }]),
  ),
  rsync: { long: wordsOf('rsh rsync-path files-from temp-dir log-file'), short: 'e' },
  ssh: { words: /.*/ },
  scp: { short: 'SFo' },
  zip: { long: ['unzip-command'], short: 'T' },
  split: { long: ['filter'] },
  shuf: { long: ['output'], short: 'o' },
  wget: { words: /.*/ },
  curl: {
    long: wordsOf(`
      output config remote-name remote-name-all output-dir upload-file dump-header trace trace-ascii cookie-jar stderr
      libcurl etag-save hsts alt-svc ssl-sessions
    `),
    words: /%output\{/,
    short: 'oOKTDc',
  },
  http: { long: wordsOf('output download session session-read-only'), short: 'od' },
  kubectl: { long: wordsOf('kubeconfig profile-output log-file log-dir cache-dir') },
  docker: { long: wordsOf('config host context'), short: 'H' },
  env: { words: /^$/ },
};

/** Letters that only affect a listing, and those of them that take a value. */
const TAR_LOOKS = /^[tvfzjJZadOkmopsnihBbRSUwlNVHXW]*$/;
const TAR_VALUED = /[bfNVHX]/;

/** Only listing is accepted. With -M, tar asks for the next volume, and `!` as the answer starts a shell. */
function tarHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  for (let i = Math.max(1, named); i < words.length; i++) {
    const { literal, prefix } = words[i] as ShellWord;
    const text = literal ?? prefix;
    if (/^(?:-[A-Za-z]*f|--file=?)?[^/-][^/]*:/.test(text) || mayNameHost(words, i))
      return { index: i, reason: `tar ${words[i]?.text} would contact another machine` };
    if (!TAR_LOOKS.test(tarLetters(text, i)))
      return { index: i, reason: `tar ${text} writes files or runs programs` };
  }
  return undefined;
}

/** Old-style letters need no dash. After a dash, a value may be attached to the first letter that takes one. */
function tarLetters(text: string, at: number): string {
  const [, letters = ''] = /^-([A-Za-z]+)/.exec(text) ?? [];
  const valued = letters.search(TAR_VALUED);
  if (letters !== '') return valued < 0 ? letters : letters.slice(0, valued + 1);
  return at === 1 && /^[A-Za-z]+$/.test(text) ? text : '';
}

/** A word that is not known yet may contain a colon, unless a slash comes first. */
function mayNameHost(words: readonly ShellWord[], at: number): boolean {
  const { literal, prefix } = words[at] as ShellWord;
  return literal === undefined && !prefix.startsWith('-') && !prefix.includes('/');
}

/** A jq program may begin by loading modules. If it is not known yet, its known beginning must be something else. */
function jqHazard(words: readonly ShellWord[], named: number): Hazard | undefined {
  const index = words.findIndex(
    ({ literal, prefix }, i) =>
      i >= Math.max(1, named) && literal === undefined && !/^\s*(?:[^\s#\w]|(?!module\b)\w+\W)/.test(prefix),
  );
  return index < 0
    ? undefined
    : { index, reason: `${words[index]?.text} could turn into a program that loads modules` };
}

/** Some programs write to their second file. `valued` are options that take the next word. */
function secondOperand(words: readonly ShellWord[], valued: RegExp): Hazard | undefined {
  const operands: number[] = [];
  let ended = false;
  for (let i = 1; i < words.length; i++) {
    const { literal, prefix } = words[i] as ShellWord;
    const text = literal ?? prefix;
    if (text === '--' && !ended) ended = true;
    else if (!ended && valued.test(text)) i++;
    else if (ended || !/^-./.test(text)) operands.push(i);
    // It may become two words.
    if (words[i]?.glob || words[i]?.splits) operands.push(i);
  }
  const [, second] = operands;
  const reason = `${words[0]?.literal} writes to its second file`;
  return second === undefined ? undefined : { index: second, reason };
}
