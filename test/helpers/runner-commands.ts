/** How a GitHub runner reads what steps hand it: the files behind GITHUB_OUTPUT and the like, and the log. */

/** Reads `NAME=VALUE` and `NAME<<MARK … MARK`, and refuses what a runner refuses. The last value of a name counts. */
export function readFileCommands(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  const lines = text.split('\n');
  while (lines.length > 0) {
    const line = lines.shift() as string;
    if (line === '') continue;
    const [equals, mark] = [line.indexOf('='), line.indexOf('<<')];
    if (equals >= 0 && (mark < 0 || equals < mark)) {
      values[line.slice(0, equals)] = line.slice(equals + 1);
      continue;
    }
    if (mark <= 0 || mark + 2 === line.length) throw new Error(`invalid format ${JSON.stringify(line)}`);
    const end = lines.indexOf(line.slice(mark + 2));
    if (end < 0) throw new Error(`the end of ${line.slice(0, mark)} is missing`);
    values[line.slice(0, mark)] = lines
      .splice(0, end + 1)
      .slice(0, -1)
      .join('\n');
  }
  return values;
}

export interface Annotation {
  readonly level: 'error' | 'warning' | 'notice';
  readonly message: string;
  readonly properties: Readonly<Record<string, string>>;
}

export interface ReadLog {
  /** What people see. */
  readonly shown: string;
  readonly annotations: readonly Annotation[];
  /** Commands other than annotations and groups: nothing of ours gives any. */
  readonly others: readonly string[];
}

/** Obeys the commands in a log, in both spellings. */
export function readLog(log: string): ReadLog {
  const annotations: Annotation[] = [];
  const others: string[] = [];
  const shown: string[] = [];
  for (const line of log.split('\n')) {
    const [, name = '', properties = '', message = ''] =
      /^\s*::([a-z-]+)(?: (.*?))?::(.*)$/i.exec(line) ?? /##\[([a-z-]+)(?: (.*?))?\](.*)$/i.exec(line) ?? [];
    const level = name.toLowerCase();
    if (level === 'error' || level === 'warning' || level === 'notice')
      annotations.push({ level, message: unescaped(message), properties: propertiesOf(properties) });
    else if (name !== '' && !/^(end)?group$/.test(level)) others.push(line);
    else shown.push(line);
  }
  return { shown: shown.join('\n'), annotations, others };
}

function propertiesOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter(Boolean);
  return Object.fromEntries(
    pairs.map((pair) => [
      pair.slice(0, pair.indexOf('=')).trim(),
      unescaped(pair.slice(pair.indexOf('=') + 1)),
    ]),
  );
}

function unescaped(text: string): string {
  return text
    .replaceAll('%0D', '\r')
    .replaceAll('%0A', '\n')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%25', '%');
}
