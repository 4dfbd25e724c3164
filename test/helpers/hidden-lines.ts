import type { Random } from './random.js';

const PIECES = [
  ...[
    '.env',
    '.e',
    'nv',
    'env',
    '.',
    '..',
    'src',
    '*',
    '.*',
    '.e*',
    '?env',
    '-r',
    '-rh',
    'sub',
    'certs',
    'private',
  ],
  ...[
    'private/notes.txt',
    'notes',
    's/',
    'id_rsa',
    '~/.ssh',
    '~',
    '$HOME',
    '$PWD',
    '.ssh/',
    '/',
    './',
    'a',
    'README.md',
  ],
  ...[
    'src/a.js',
    'src/*.js',
    '*.js',
    '{.env,a}',
    '{.,src}',
    'names.txt',
    'server',
    '.key',
    'certs/*',
    '--',
    '.config',
  ],
  ...['gh', 'docs', '"a .env"', "'.env'", 'x.env', '.js', '""', '-g*', '/proc/self/environ'],
];
const FILTERS = [
  ...[
    'head -1',
    'tail -1',
    'tail -n 2',
    'sort -u',
    'uniq',
    'grep env',
    'grep -v src',
    'grep .',
    'xargs',
    'xargs -n1',
  ],
  ...[
    'tr "\\n" " "',
    "sed 's|^\\./||'",
    "sed 's|^./||'",
    'cut -c1-4',
    'cut -d/ -f2',
    'head -c 4',
    'cat',
    'tac',
  ],
  ...[
    'xargs grep -l ""',
    'xargs -0 grep -l ""',
    'xargs basename',
    'awk "{print \\$1}"',
    'grep -o .env',
    'wc -l',
  ],
];
const FIND_TESTS = [
  ...[
    "-name '*.js'",
    "-name '.e*'",
    "-name '*v'",
    "-iname '*.KEY'",
    "-path './src/*'",
    "-name '*notes*'",
    '-type f',
    '-type l',
  ],
  ...[
    "-name '*.js' -o -name '*v'",
    "! -name '*.js'",
    "-not -path './src/*' -name '*.js'",
    "-name '*.js' -print0",
    '-newer src/a.js',
  ],
  ...[
    '-path ./sub -prune -o -type f',
    "-path ./sub -prune -o -name '*.js' -print",
    '-maxdepth 1 -type f',
    '-name "$x"',
  ],
  ...[
    "-mindepth 2 -path ./private -prune -o -name '*.txt' -print",
    "-name '*.js' , -name '.env'",
    '\\( -name a -o -name "*.md" \\)',
  ],
];
const EXPANSIONS = [
  ...[
    '$x',
    '$x',
    '${x}',
    '$y',
    '${x%v}',
    '${x%.js}',
    '${x#a}',
    '${x#./}',
    '${x##*/}',
    '${x:1}',
    '${x/a/b}',
    '${x,,}',
  ],
  ...['${q:-.env}', '${q:-$x}', '${q}', '${x[@]}', '${x[1]}', '$1', '$@', '$_'],
  ...['$!', '$?', '$#', '$LINES', '${COLUMNS}', '${UID}', '${RANDOM}', '${SHLVL}', '${x:+v}', '$((1))'],
];

/** Lines that try to read what is hidden on the stage of `hidden-stage`, in all ways that we could think of. */
export class HiddenLines {
  readonly #random: Random;
  #depth = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  line(): string {
    this.#depth = 0;
    const before = this.#setting() + (this.#random.chance(0.3) ? this.#setting() : '');
    const reader = this.#reader();
    return this.#oneOf([
      () => `${before}${reader}`,
      () => `${before}${reader}`,
      () => `${before}${reader} | ${this.#random.pick(FILTERS)}`,
      () => `${before}for x in ${this.#word()} ${this.#word()}; do ${reader}; done`,
      () => `${before}for x in $(${this.#source()}); do ${reader}; done`,
      () => `${before}env ${reader}`,
      () => (reader.includes("'") ? `${before}${reader}` : `${before}bash -c '${reader}'`),
      () => `${before}if true; then x=${this.#random.pick(PIECES)}; fi; ${reader}`,
    ]);
  }

  #oneOf(makers: readonly (() => string)[]): string {
    return this.#random.pick(makers)();
  }

  #word(): string {
    const parts = Array.from({ length: this.#random.pick([1, 1, 1, 2, 2, 3]) }, () =>
      this.#random.chance(0.5) ? this.#random.pick(PIECES) : this.#expansion(),
    );
    const word = parts.join('');
    return this.#random.chance(0.4) && !/["`\\]|^[~{*]/.test(word) ? `"${word}"` : word;
  }

  #expansion(): string {
    if (this.#depth > 2 || this.#random.chance(0.7)) return this.#random.pick(EXPANSIONS);
    this.#depth++;
    const source = `$(${this.#source()})`;
    this.#depth--;
    return source;
  }

  /** A command whose output says what is read. */
  #source(): string {
    const source = this.#oneOf([
      () => `echo ${this.#word()} ${this.#word()}`,
      () => `printf '%s\\n' ${this.#word()}`,
      () => `printf %s ${this.#word()}`,
      () => `ls ${this.#random.pick(['', '-a', '-A', '-d'])} ${this.#word()}`,
      () => `find ${this.#random.pick(['.', 'src', 'sub', 'certs'])} ${this.#random.pick(FIND_TESTS)}`,
      () => `find ${this.#word()} ${this.#random.pick(FIND_TESTS)}`,
      () => this.#random.pick(['git ls-files', 'git ls-files -o', 'git diff --name-only', 'git grep -l foo']),
      () => `git ls-files ${this.#word()}`,
      () =>
        this.#random.pick([
          'rg --files',
          "rg -l ''",
          'rg --files --hidden',
          "rg -l -g '*' ''",
          "rg -l -g '*.js' ''",
        ]),
      () => `grep -rl '' ${this.#word()}`,
      () => `basename ${this.#word()} ${this.#random.pick(['', '.js', '.env'])}`,
      () => `dirname ${this.#word()}`,
      () => this.#random.pick(['pwd', 'cat names.txt', 'head -1 names.txt', 'date +%F', 'echo $x']),
      () => `cd ${this.#random.pick(['src', 'sub'])}; find . -type f`,
      () => this.#random.pick(['seq 2 1', 'seq 1 2', 'git rev-parse --short no', 'wc -l < no', 'date +T']),
      () => `echo ${this.#word()} > /dev/null`,
      () =>
        `for i in ${this.#word()} ${this.#word()}; do ${this.#random.pick(['echo', 'printf %s'])} $i; done`,
    ]);
    return this.#random.chance(0.35) ? `${source} | ${this.#random.pick(FILTERS)}` : source;
  }

  #reader(): string {
    const plain = [
      'cat',
      'head -n 3',
      'tail -n +1',
      'grep ""',
      'grep -r ""',
      'rg ""',
      'nl',
      'tac',
      'wc',
      'od -c',
      'cut -c1-',
    ];
    return this.#oneOf([
      () => `${this.#random.pick(plain)} ${this.#word()}`,
      () => `${this.#random.pick(plain)} ${this.#word()} ${this.#word()}`,
      () => `grep ${this.#word()} ${this.#word()}`,
      () => `${this.#random.pick(['sed -n p', 'awk 1', 'sort', 'jq -R .'])} ./${this.#word()}`,
      () =>
        `grep -r "" . ${this.#random.pick(['--exclude=.env', "--exclude='.*' --exclude-dir='.*'", '--include="*.js"'])}`,
      () =>
        `rg ${this.#random.pick(['-u', '-uu', '--hidden', '-g "*.js"', '-g "!src"', '-t js', '-g "*"', '-L'])} ""`,
      () =>
        `${this.#source()} | xargs ${this.#random.pick(['grep ""', 'cat', '-0 cat', 'head', 'grep -r ""'])}`,
      () => `${this.#source()} | xargs -I{} cat ${this.#random.pick(['{}', './{}', 'src/{}', '{}v'])}`,
      () => `find ${this.#random.pick(['.', 'src'])} ${this.#random.pick(FIND_TESTS)} -exec cat {} +`,
      () => `diff ${this.#random.pick(['', '-r', '-rN'])} ${this.#word()} ${this.#word()}`,
      () =>
        `while read -r f; do cat ${this.#random.pick(['$f', '"$f"', 'src/$f'])}; done < <(${this.#source()})`,
      () => `git diff --no-index README.md ${this.#word()}`,
      () => `git grep --untracked "" ${this.#word()}`,
      () => `cat < ${this.#word()}`,
      () => `f() { cat "$1"; }; f ${this.#word()}`,
    ]);
  }

  #setting(): string {
    return this.#oneOf([
      () => '',
      () => `x=${this.#word()}; `,
      () => `x=${this.#word()}; y=$x${this.#random.pick(PIECES)}; `,
      () => `x=(${this.#word()} ${this.#word()}); `,
      () => `x=a; x+=${this.#random.pick(PIECES)}; `,
      () => `x="$(${this.#source()})"; `,
      () => `set -- ${this.#word()} ${this.#word()}; `,
      () => `read x <<< ${this.#word()}; `,
      () => `read -r ${this.#random.pick(['-n 4', '-N 4', '-d v', '-a', 'y'])} x <<< ${this.#word()}; `,
      () => `mapfile -t ${this.#random.pick(['', '-d v', '-n 1'])} x <<< ${this.#word()}; `,
      () => `${this.#random.pick(['LINES', 'COLUMNS', 'SHLVL'])}=${this.#word()}; `,
      () => `for LINES in ${this.#word()}; do :; done; `,
      () => `cd ${this.#random.pick(['src', 'sub', 'docs'])}${this.#random.pick([' && ', '; '])}`,
      () => this.#random.pick(['false && x=a; ', '(x=a); ', 'unset x; ', 'x=.env ']),
    ]);
  }
}
