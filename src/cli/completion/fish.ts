import type { KnownCommand, KnownOption, Value } from './tree.js';

/** One line for each thing to complete, with its command as the condition. */
export function fishScript(commands: readonly KnownCommand[]): string {
  return `# Completion of bosun for fish. Made by: bosun completion fish
function __bosun_at --description 'whether the command so far is this one'
  set -l command
  set -l value 0
  for word in (commandline -opc)[2..]
    if test $value = 1
      set value 0
      continue
    end
    switch "$command:$word"
${commands.flatMap(valuedCases).join('\n')}
${commands.flatMap(commandCases).join('\n')}
    end
  end
  test "$command" = "$argv[1]"
end

complete -c bosun -f
${commands.flatMap(commandLines).join('\n')}
`;
}

/** The word after an option that takes one is not a command. */
function valuedCases({ path, options }: KnownCommand): string[] {
  const flags = options.filter(({ value, isOptional }) => value && !isOptional).flatMap((one) => one.flags);
  if (flags.length === 0) return [];
  const patterns = flags.map((flag) => fishQuoted(`${path}:${flag}`)).join(' ');
  return [`      case ${patterns}`, '        set value 1'];
}

function commandCases({ path, commands }: KnownCommand): string[] {
  return commands.flatMap(({ name }) => [
    `      case ${fishQuoted(`${path}:${name}`)}`,
    `        set command ${fishQuoted(`${path} ${name}`.trim())}`,
  ]);
}

function commandLines({ path, commands, options, operand }: KnownCommand): string[] {
  const start = `complete -c bosun -n ${fishQuoted(`__bosun_at ${fishQuoted(path)}`)}`;
  return [
    ...commands.map(({ name, about }) => `${start} -a ${name} -d ${fishQuoted(about)}`),
    ...(operand ? [`${start}${values(operand, false)}`] : []),
    ...options.map((option) => `${start}${optionFlags(option)}`),
  ];
}

function optionFlags({ flags, about, value, isOptional }: KnownOption): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`,
  );
  return `${names.join('')}${value ? values(value, !isOptional) : ''} -d ${fishQuoted(about)}`;
}

function values({ words, path }: Value, isRequired: boolean): string {
  const all = [...words, ...(path === 'folder' ? ['(__fish_complete_directories)'] : [])];
  const value = isRequired ? (path === 'file' ? ' -r -F' : ' -x') : path === 'file' ? ' -F' : '';
  return `${value}${all.length > 0 ? ` -a ${fishQuoted(all.join(' '))}` : ''}`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
