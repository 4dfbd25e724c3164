/** One setting as git reads it. Bytes are kept as Latin-1, so that none is lost. */
export interface GitSetting {
  /** Section and name in lower case; the part between them (`filter.LFS.clean`) as written. */
  readonly key: string;
  /** True if there is no `=`, which git takes for a yes. */
  readonly value: string | true;
}

interface Reader {
  readonly text: string;
  at: number;
}

/** Thrown inside, since git gives up at the first mistake, too. */
class Malformed extends Error {}

/** Reads a git settings file as git does; undefined if git could not read it, or reads it otherwise. */
export function parseGitConfig(bytes: Buffer): GitSetting[] | undefined {
  // Git's own strings end at a NUL.
  if (bytes.includes(0)) return undefined;
  const text = bytes.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '');
  try {
    return readSettings({ text: text.replaceAll('\r\n', '\n'), at: 0 });
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

function readSettings(reader: Reader): GitSetting[] {
  const settings: GitSetting[] = [];
  let section = '';
  for (;;) {
    next(reader, /[ \t\n\r]*/y);
    if (reader.at >= reader.text.length) return settings;
    if (next(reader, /[#;][^\n]*/y) !== '') continue;
    if (reader.text[reader.at] === '[') section = `${readSection(reader)}.`;
    else {
      const name = next(reader, /[A-Za-z][A-Za-z0-9-]*/y).toLowerCase();
      if (name === '') throw new Malformed();
      settings.push({ key: section + name, value: readValue(reader) });
    }
  }
}

/** `[core]`, `[filter "LFS"]`, or the old `[filter.lfs]`. */
function readSection(reader: Reader): string {
  const name = /\[([A-Za-z0-9.-]*)(?:[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y;
  name.lastIndex = reader.at;
  const [all, section, below] = name.exec(reader.text) ?? [];
  if (all === undefined || section === undefined) throw new Malformed();
  reader.at += all.length;
  const own = section.toLowerCase();
  return below === undefined ? own : `${own}.${below.replaceAll(/\\(.)/gs, '$1')}`;
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', '\\': '\\', '"': '"' };

function readValue(reader: Reader): string | true {
  next(reader, /[ \t]*/y);
  if (reader.at >= reader.text.length || next(reader, /\n/y) !== '') return true;
  if (next(reader, /=/y) === '') throw new Malformed();
  let [value, blanks, isQuoted] = ['', '', false];
  for (;;) {
    const character = reader.text[reader.at++] ?? '\n';
    if (character === '\n') {
      if (isQuoted) throw new Malformed();
      return value;
    }
    if (!isQuoted && /[ \t\r]/.test(character)) {
      // Only blanks between words belong to the value.
      if (value !== '') blanks += character;
      continue;
    }
    if (!isQuoted && /[#;]/.test(character)) {
      next(reader, /[^\n]*/y);
      continue;
    }
    value += blanks;
    blanks = '';
    if (character === '"') isQuoted = !isQuoted;
    else value += character === '\\' ? readEscape(reader) : character;
  }
}

function readEscape(reader: Reader): string {
  const character = reader.text[reader.at++] ?? '\n';
  if (character === '\n') return '';
  const meant = ESCAPES[character];
  if (meant === undefined) throw new Malformed();
  return meant;
}

/** What an expression matches right here; moves past it. */
function next(reader: Reader, expression: RegExp): string {
  expression.lastIndex = reader.at;
  const [found = ''] = expression.exec(reader.text) ?? [];
  reader.at += found.length;
  return found;
}

/** Settings as a file that git can read. */
export function printGitConfig(settings: readonly GitSetting[]): Buffer {
  const lines: string[] = [];
  let section = '';
  for (const { key, value } of settings) {
    const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
    // Without a section it means nothing, and could not be written.
    if (first <= 0) continue;
    const below = first === last ? '' : ` "${key.slice(first + 1, last).replaceAll(/["\\]/g, '\\$&')}"`;
    const header = `[${key.slice(0, first)}${below}]`;
    if (header !== section) lines.push(header);
    section = header;
    lines.push(`\t${key.slice(last + 1)}${value === true ? '' : ` = ${quotedSetting(value)}`}`);
  }
  return Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');
}

function quotedSetting(value: string): string {
  if (/^[\w./:@*+-]+$/.test(value)) return value;
  const escaped = value
    .replaceAll(/["\\]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replaceAll('\b', '\\b');
  return `"${escaped}"`;
}
