export interface RunnerCommand {
  readonly command: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly data: string;
}

const REGISTERED = new Set(
  'add-mask add-matcher add-path debug echo endgroup error group notice remove-matcher save-state set-env set-output stop-commands warning'.split(
    ' ',
  ),
);

/** What a runner would obey in a log: both forms of commands, as loosely as it reads them. */
export function commandsIn(log: string): RunnerCommand[] {
  return log.split(/\r\n|\r|\n/).flatMap((line) => modern(line) ?? ancient(line) ?? []);
}

function modern(line: string): RunnerCommand | undefined {
  const text = line.replace(/^[\s\u0085]+/, '');
  if (!text.startsWith('::')) return undefined;
  const end = text.indexOf('::', 2);
  return end < 0 ? undefined : read(text.slice(2, end), text.slice(end + 2), ',');
}

function ancient(line: string): RunnerCommand | undefined {
  const start = line.indexOf('##[');
  const end = line.indexOf(']', start);
  return start < 0 || end < 0 ? undefined : read(line.slice(start + 3, end), line.slice(end + 1), ';');
}

function read(info: string, data: string, separator: string): RunnerCommand | undefined {
  const space = info.indexOf(' ');
  const command = space < 0 ? info : info.slice(0, space);
  if (!REGISTERED.has(command)) return undefined;
  const pairs =
    space < 0
      ? []
      : info
          .slice(space + 1)
          .trim()
          .split(separator)
          .filter(Boolean);
  const properties = pairs.map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), unescape(pair.slice(at + 1))] as const;
  });
  return { command, properties: Object.fromEntries(properties), data: unescape(data) };
}

function unescape(text: string): string {
  return text
    .replaceAll('%0D', '\r')
    .replaceAll('%0A', '\n')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%25', '%');
}
