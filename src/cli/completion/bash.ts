import type { KnownCommand, KnownOption, Value } from './tree.js';

/**
 * Tables for bash, and a function that reads them. Works with bash 3.2, the one on macOS; only newer ones can
 * complete file names by their own rules.
 */
export function bashScript(commands: readonly KnownCommand[]): string {
  return `# Completion of bosun for bash. Made by: bosun completion bash
_bosun() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command= word i
  COMPREPLY=()
  # What stands behind an equals sign is a word of its own to bash.
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "$command:$word" in
${commands.flatMap(valuedCases).join('\n')}
${commands.flatMap(commandCases).join('\n')}
    esac
  done
  case "$command:$prev" in
${commands.flatMap((command) => command.options.flatMap((option) => valueCases(command, option))).join('\n')}
  esac
  case "$command:$cur" in
${commands.map(optionCase).join('\n')}
  esac
  case "$command" in
${commands.map(operandCase).join('\n')}
  esac
}

_bosun_words() {
  COMPREPLY=($(compgen -W "$1" -- "$2"))
}

_bosun_files() {
  compopt -o default 2> /dev/null || _bosun_paths -f "$1"
}

_bosun_folders() {
  compopt -o dirnames 2> /dev/null || _bosun_paths -d "$1"
}

_bosun_paths() {
  local IFS=$'\\n'
  COMPREPLY+=($(compgen "$1" -- "$2"))
}

complete -F _bosun bosun
`;
}

/** The word after an option that takes one is not a command. */
function valuedCases({ path, options }: KnownCommand): string[] {
  const flags = options.filter(({ value, isOptional }) => value && !isOptional).flatMap((one) => one.flags);
  if (flags.length === 0) return [];
  const patterns = flags.map((flag) => `"${path}:${flag}"`).join(' | ');
  return [`      ${patterns})`, '        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i += 2)) || ((i++)) ;;'];
}

function commandCases({ path, commands }: KnownCommand): string[] {
  return commands.map(({ name }) => `      "${path}:${name}") command="${`${path} ${name}`.trim()}" ;;`);
}

function valueCases({ path }: KnownCommand, { flags, value, isOptional }: KnownOption): string[] {
  if (!value || (isOptional && value.words.length === 0 && !value.path)) return [];
  const patterns = flags.map((flag) => `"${path}:${flag}"`).join(' | ');
  return [`    ${patterns}) ${answer(value)}; return ;;`];
}

function optionCase({ path, options }: KnownCommand): string {
  const flags = options.flatMap((one) => one.flags).join(' ');
  return `    "${path}":-*) _bosun_words "${flags}" "$cur"; return ;;`;
}

function operandCase({ path, commands, operand }: KnownCommand): string {
  const words = [...commands.map(({ name }) => name), ...(operand?.words ?? [])];
  return `    "${path}") ${answer({ words, path: operand?.path })} ;;`;
}

function answer({ words, path }: Value): string {
  const steps = [
    words.length > 0 && `_bosun_words "${words.join(' ')}" "$cur"`,
    path === 'file' && '_bosun_files "$cur"',
    path === 'folder' && '_bosun_folders "$cur"',
  ].filter(Boolean);
  return steps.length > 0 ? steps.join('; ') : ':';
}
