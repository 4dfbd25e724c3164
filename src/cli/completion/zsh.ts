import type { KnownCommand, KnownOption, Value } from './tree.js';

/** One function for each command, in the language of zsh's own _arguments. */
export function zshScript(commands: readonly KnownCommand[]): string {
  return `#compdef bosun
# Completion of bosun for zsh. Made by: bosun completion zsh
${commands.map(commandFunction).join('\n\n')}

_bosun_either() {
  local -a words_given=("$@")
  _alternative "words:word:($words_given)" 'files:file:_files'
}

if [[ $funcstack[1] == _bosun ]]; then _bosun "$@"; else compdef _bosun bosun; fi
`;
}

function commandFunction(command: KnownCommand): string {
  const { path, commands, options, operand } = command;
  const specs = options.map(optionSpec);
  if (commands.length === 0) {
    return `${functionOf(path)}() {\n  _arguments -s -S ${lines([...specs, ...operandSpec(operand)])}\n}`;
  }
  const named = commands.map(({ name, about }) => zshQuoted(`${name}:${about.replaceAll(':', '\\:')}`));
  const cases = commands.map(({ name }) => `        ${name}) ${functionOf(`${path} ${name}`.trim())} ;;`);
  return `${functionOf(path)}() {
  local context state state_descr line curcontext=$curcontext
  typeset -A opt_args
  local -a commands=(
    ${named.join('\n    ')}
  )
  _arguments -C -s -S ${lines([...specs, zshQuoted('1: :->command'), zshQuoted('*:: :->rest')])}
  case $state in
    command) _describe command commands ;;
    rest)
      case $words[1] in
${cases.join('\n')}
      esac ;;
  esac
}`;
}

function functionOf(path: string): string {
  return `_bosun${path === '' ? '' : `_${path.replaceAll(/\W/g, '_')}`}`;
}

function lines(specs: readonly string[]): string {
  return specs.map((spec) => `\\\n    ${spec}`).join(' ');
}

function optionSpec({ flags, about, value, isOptional, isRepeatable }: KnownOption): string {
  const others = isRepeatable ? '*' : flags.length > 1 ? `(${flags.join(' ')})` : '';
  const text = `[${about.replaceAll(/[[\]\\]/g, '\\$&')}]${value ? `${isOptional ? '::' : ':'}${message(flags)}:${action(value)}` : ''}`;
  if (flags.length === 1) return zshQuoted(`${others}${withEquals(flags[0] ?? '', value)}${text}`);
  const spellings = flags.map((flag) => withEquals(flag, value)).join(',');
  return `${zshQuoted(others)}{${spellings}}${zshQuoted(text)}`;
}

/** `--mode=plan` is as good as `--mode plan`. */
function withEquals(flag: string, value: Value | undefined): string {
  return value && flag.startsWith('--') ? `${flag}=` : flag;
}

function message(flags: readonly string[]): string {
  return flags.at(-1)?.replace(/^-+/, '') ?? '';
}

function operandSpec(operand: Value | undefined): string[] {
  return operand ? [zshQuoted(`*: :${action(operand)}`)] : [];
}

function action({ words, path }: Value): string {
  const files = path === 'folder' ? '_files -/' : path && '_files';
  if (words.length === 0) return files ?? ' ';
  return files ? ` _bosun_either ${words.join(' ')}` : `(${words.join(' ')})`;
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
