import type { Random } from './random.js';

/** Programs that the policy of the fuzz test allows, and such that it does not. */
export const ALLOWED = ['a1', 'a2'] as const;
export const FORBIDDEN = ['b1', 'b2'] as const;

/** What the shell takes for syntax in one place and for text in another, and what parsers misread. */
const TOKENS = [
  ...[
    `'`,
    `"`,
    '`',
    '\\',
    '$',
    `$'`,
    `\\'`,
    `\\"`,
    '\\\\',
    '\\\n',
    '\n',
    ' ',
    ' ',
    ' ',
    '\t',
    '#',
    ' #',
    ';',
  ],
  ...['&', '&&', '||', '|', '|&', ';;', ';&', '!', '(', ')', '{ ', ' }', '; }', '$(', '${', '}', '((', '))'],
  ...[
    '$((',
    '<(',
    '>(',
    '[[ ',
    ' ]]',
    '[ ',
    ' ]',
    '{',
    ',',
    '..',
    '*',
    '?',
    '[a]',
    '~',
    '=',
    '+=',
    'x=',
    'x+=',
  ],
  ...[
    'x=(',
    '$x',
    '"$x"',
    '${x}',
    '${x:-',
    '${x#',
    '${x/',
    '${#x}',
    '$#',
    '$@',
    '"$@"',
    '$1',
    '$?',
    'x',
    '1',
  ],
  ...[
    '<<E',
    "<<'E'",
    '<<-E',
    '\nE\n',
    '\n\tE\n',
    '<<<',
    '>',
    '>>',
    '>|',
    '&>',
    '>&',
    '2>&1',
    '<',
    '<>',
    '>&2',
  ],
  ...[
    'if ',
    '; then ',
    '; else ',
    '; fi',
    'while ',
    'until ',
    'for x in ',
    '; do ',
    '; done',
    'case x in x) ',
  ],
  ...[
    ';; esac',
    'esac',
    'in',
    'do',
    'time ',
    'f1',
    'f1() ',
    'function f1 ',
    'coproc ',
    'select x in ',
    'eval ',
  ],
  ...[
    'command ',
    'builtin ',
    'exec ',
    'trap ',
    'test ',
    'true',
    'false',
    ':',
    'cd src',
    'cd out',
    'cd ..',
    'E',
  ],
  ...[
    '-v',
    '-eq',
    '-c',
    '--',
    '/dev/null',
    'out/x',
    'src/x',
    '../x',
    '.git/x',
    '\\n',
    '\\x62',
    '1\\',
    '@',
    '^',
  ],
] as const;

const SOUND_WORDS = [
  ...[
    'x',
    "'a b'",
    '"it\'s"',
    '"$x y"',
    '$x',
    '${x:-d}',
    '"${x##*.}"',
    '"${x:0:2}"',
    '${x%%#*}',
    '"${x:-(none)}"',
    '${x:+a|b}',
    'foo$',
    '"$@"',
    '$1',
    '$?',
    '~',
    '"~"',
  ],
  ...['$(a1 x)', '"$(a2)"', '`a1 x`', '<(a1 x)', '*', 'src/*.js', '[a-s]*', '{a,b}', 'x{1..3}', 'a\\ b'],
  ...['$((1 + 2))', "$'a\\tb'", '""', '--n=1', '-v', '#', 'a#b', '\\$x', '"$ 5"', "'$(b1)'"],
] as const;

/** Random command lines over `ALLOWED` and `FORBIDDEN`: some follow the grammar, some are mere heaps of tokens. */
export class ShellLines {
  readonly #random: Random;
  #depth = 0;
  #isSound = false;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Any line: about half of them have a forbidden name somewhere, be it as a command or as a text. */
  any(): string {
    switch (this.#random.below(4)) {
      case 0:
        return this.#heap();
      case 1:
        return this.#disturbed(this.#list());
      default:
        return this.#list();
    }
  }

  /** A line of nothing but allowed commands, in ways that nobody should be refused for. */
  plain(): string {
    const random = this.#random;
    const words = () =>
      random.list(random.below(3), () =>
        random.pick(['x', '-l', "'b1; b2'", '"a | b1"', '--n=1', 'src/*.js', String.raw`b1\ b2`, '"$HOME"']),
      );
    const command = () => [random.pick(ALLOWED), ...words()].join(' ');
    const end = random.pick(['', ' 2>&1', ' >/dev/null', ' 2>/dev/null', ' # b1']);
    const commands = random.list(1 + random.below(3), command);
    return commands.join(random.pick([' | ', ' && ', ' || ', '; ', '\n'])) + end;
  }

  /** A line that follows the grammar, of words that nobody misreads. */
  sound(): string {
    this.#isSound = true;
    const line = this.#random.chance(0.8) ? this.#compound() : this.#list();
    this.#isSound = false;
    return line;
  }

  #program(): string {
    return this.#random.chance(0.8) ? this.#random.pick(ALLOWED) : this.#random.pick(FORBIDDEN);
  }

  #heap(): string {
    const random = this.#random;
    const parts = random.list(2 + random.below(10), () =>
      random.chance(0.25) ? `${random.pick([...ALLOWED, ...FORBIDDEN])} ` : random.pick(TOKENS),
    );
    return `a1 ${parts.join('')}`;
  }

  /** With a token put in, taken out, or doubled at one or two places. */
  #disturbed(line: string): string {
    const random = this.#random;
    let text = line;
    for (let i = random.below(2); i >= 0; i--) {
      const at = random.below(text.length + 1);
      const end = at + (random.chance(0.3) ? 1 + random.below(2) : 0);
      text = text.slice(0, at) + (random.chance(0.8) ? random.pick(TOKENS) : '') + text.slice(end);
    }
    return text;
  }

  #list(): string {
    const random = this.#random;
    const parts = random.list(1 + random.below(3), () => this.#command());
    return parts.reduce((line, part) => {
      const separator = line.endsWith('\n')
        ? ''
        : random.pick(['; ', ' && ', ' || ', ' | ', '\n', ' & ', ';']);
      return line + separator + part;
    });
  }

  #command(): string {
    const random = this.#random;
    if (this.#depth > 2) return this.#simple();
    this.#depth++;
    const command = random.chance(0.55) ? this.#simple() : this.#compound();
    this.#depth--;
    return command;
  }

  #simple(): string {
    const random = this.#random;
    const before = random.chance(0.15) ? `${this.#assignment()} ` : '';
    const wrapper = random.chance(0.15)
      ? random.pick([
          'env ',
          'env y=1 ',
          'timeout 5 ',
          'nice ',
          'command ',
          '! ',
          'time ',
          'nice -n 5 ',
          'env -u x ',
          'env -u $x ',
          'nice -n $x ',
          'timeout -k $x 5 ',
          'env y=$x ',
        ])
      : '';
    const words = random.list(random.below(4), () => this.#word());
    const after = random.chance(0.2) ? ` ${this.#redirection()}` : '';
    const end = random.chance(0.08) ? ` # ${this.#text()}\n` : '';
    return `${before}${wrapper}${[this.#program(), ...words].join(' ')}${after}${end}`;
  }

  #compound(): string {
    const random = this.#random;
    const list = () => this.#list().replace(/[ ;&]+$/, '');
    switch (random.below(23)) {
      case 0:
        return `(${list()})`;
      case 1:
        return `{ ${list()}\n}`;
      case 2:
        return `if ${list()}\nthen ${list()}\nelse ${list()}\nfi`;
      case 3:
        return `for x in ${this.#word()} ${this.#word()}; do ${list()}\ndone`;
      case 4:
        return `while ${list()}\ndo ${list()}\nbreak; done`;
      case 5:
        return `case ${this.#word()} in ${random.pick(['x', '*', "'b1'", 'a|b'])}) ${list()}\n;; *) ${this.#simple()}\n;; esac`;
      case 6:
        return `f1() { ${this.#simple()}\n}`;
      case 7:
        return random.pick(['f1', 'f1 x', `f1() { ${this.#simple()}\n}; f1`, `(f1() { :; }); f1`]);
      case 8:
        return `[[ ${this.#word()} ${random.pick(['==', '!=', '<', '-eq', '=~', '-nt'])} ${this.#word()} ]]`;
      case 9:
        return `(( ${random.pick(['1', 'x', 'x + 1', 'x = 2', 'x[0]', '$x', '${x}', 'x++', 'y ? 1 : 2'])} ))`;
      case 10:
        return this.#hereDocument();
      case 11:
        return this.#assignment();
      case 12:
        return random.pick([
          'cd src',
          'cd out',
          'cd ..',
          'cd src/deep',
          'cd .git',
          '(cd src)',
          'command cd src',
          'cd src < none',
          '{ cd src; } < none',
          'false && cd src',
        ]);
      case 13:
        return `bash -c ${this.#quoted(random.pick(['((x))', '[[ x -eq 1 ]]', '> ../out/x', `${this.#program()} ${this.#text()}`]))}`;
      case 14:
        return `if ${list()}\nthen ${list()}\nelif ${list()}\nthen ${list()}\nfi`;
      case 15:
        return `until ${this.#simple()}\ndo ${list()}\nbreak\ndone`;
      case 16:
        return `for ((i=0; i<2; i++)); do ${this.#simple()}\ndone`;
      case 17:
        return `${random.pick(['!', 'time', '! time -p', 'time !'])} ${this.#simple()} ${random.pick(['|', '|&'])} ${this.#simple()}`;
      case 18:
        return `l=(${this.#word()} ${this.#word()}); a1 "\${l[@]}" \${l[0]} \${#l[@]}`;
      case 19:
        return `case ${this.#word()} in (*) ${list()}\n;& 'b1' | ?) ${this.#simple()}\n;;& *) :; esac`;
      case 20:
        return `${random.pick(['eval', 'export', 'trap'])} ${random.pick([this.#quoted(this.#simple()), `y=${this.#word()}`])}${random.pick(['', ' EXIT'])}`;
      case 21:
        return `x=${random.pick(['b1.a', '"a b"', 'a1'])}; a1 ${random.pick(['${x^}', '"${x,,}"', '${x##*.}', '"${x%.*}"', '${x: -1:1}', '${x//b/c}', '${x:+$(a1)}', '${#x}'])}`;
      default:
        return `${random.pick(['', "x='-v'; "])}test ${random.pick(['$x', '-v', this.#word()])} ${random.pick(["'a[$(b1)]'", this.#word()])}`;
    }
  }

  #hereDocument(): string {
    const random = this.#random;
    const delimiter = random.pick(['E', "'E'", '"E"', String.raw`\E`]);
    const [operator, end] = random.pick([
      ['<<', 'E'],
      ['<<-', '\tE'],
      ['<<-', 'E'],
    ] as const);
    return `${this.#program()} ${operator}${delimiter}\n${this.#text()}\n${this.#text()}\n${end}\n`;
  }

  #assignment(): string {
    const random = this.#random;
    return `${random.pick(['x', 'y'])}${random.pick(['=', '=', '+='])}${random.pick([
      '1',
      '',
      this.#word(),
      `(${this.#word()} ${this.#word()})`,
      `'a[$(b1)]'`,
      `'-v'`,
      `'1 b1'`,
    ])}`;
  }

  #redirection(): string {
    const random = this.#random;
    const target = random.pick([
      'out/x',
      'out/y',
      'src/x',
      'x',
      '../x',
      '../../x',
      '.git/x',
      '../out/x',
      '"$x"',
    ]);
    return random.pick([
      `> ${target}`,
      `>>${target}`,
      `2>${target}`,
      `&>${target}`,
      `>|${target}`,
      `>&${target}`,
      `<>${target}`,
      '2>&1',
      '>&2',
      '2>&-',
      '>/dev/null',
      '</dev/null',
      `<<< ${this.#word()}`,
      `< <(${this.#simple()}\n)`,
      `> >(${this.#simple()}\n)`,
    ]);
  }

  #word(): string {
    const random = this.#random;
    if (this.#isSound) return random.pick(SOUND_WORDS);
    if (this.#depth > 3) return random.pick(['x', 'b1']);
    this.#depth++;
    const word = random.list(1 + random.below(2), () => this.#piece()).join('');
    this.#depth--;
    return word;
  }

  #piece(): string {
    const random = this.#random;
    switch (random.below(16)) {
      case 0:
        return `$(${this.#list()}\n)`;
      case 1:
        return `\`${this.#program()} x\``;
      case 2:
        return `"${random.pick(['', 'b1 ', "it's ", '# '])}$(${this.#simple()}\n)"`;
      case 3:
        return random.pick([
          '$x',
          '"$x"',
          '${x}',
          '"${x}"',
          '$@',
          '"$@"',
          '${#x}',
          '$?',
          '$1',
          '${y}',
          '~',
          '~+',
        ]);
      case 4:
        return `\${x${random.pick([':-', '-', '#', '%', '/', '//b/', ':+', '^', ':', ':0:'])}${random.pick([
          'b1',
          '1',
          '$(b1)',
          "'b1'",
          '"b1"',
          '',
        ])}}`;
      case 5:
        return `$((${random.pick(['1', 'x', '1 + x', 'y', '$x'])}))`;
      case 6:
        return `<(${this.#simple()}\n)`;
      case 7:
        return random.pick(['*', 'src/*', '?', '[a-z]', '{a,b1}', '{1..3}', 'a{,b}', '{b1,b2}', '{a,$(b1)}']);
      case 8:
        return `\\${random.pick([' ', ';', '|', '&', '(', '#', '$', '`', '"', "'", '\\', '\n', 'b1'])}`;
      case 9:
        return random.pick(['x', '-v', '-x', 'b1', 'a1', 'src', 'x=1', '#b1', 'x#b1', '-', '--']);
      default:
        return this.#quoted(this.#text());
    }
  }

  #quoted(text: string): string {
    const random = this.#random;
    switch (random.below(4)) {
      case 0:
        return `"${text.replaceAll(/["\\$`]/g, random.chance(0.9) ? String.raw`\$&` : '$&')}"`;
      case 1:
        return `$'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
      default:
        return `'${text.replaceAll("'", random.chance(0.9) ? String.raw`'\''` : '')}'`;
    }
  }

  /** A text that would be harmful if it were taken for more than a text. */
  #text(): string {
    const random = this.#random;
    return random.pick([
      'b1',
      '; b1',
      '| b1',
      '\nb1\n',
      '$(b1)',
      '`b1`',
      '" b1 "',
      "' b1 '",
      'x\\',
      '\\',
      ') b1 (',
      '} b1 {',
      '# b1',
      'E',
      '$x',
      '<<E',
      '${x}',
      'a b',
      '',
      '${x:-$(b1)}',
      ';; b1',
      '&& b1',
      String.raw`\'; b1 #`,
      String.raw`\"; b1 #`,
    ]);
  }
}
