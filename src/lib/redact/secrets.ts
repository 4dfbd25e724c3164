import { hasSecretName, hasSecretValue } from './looks-secret.js';
import { MIN_LENGTH } from './spellings.js';

/** A text that is not to be shown, and what it is called. */
export interface Secret {
  readonly name: string;
  readonly text: string;
  /** Looked for as it is, not in every spelling: it is a part of another that is. */
  readonly part?: boolean;
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** What is secret in an environment: by its name, by what it holds, or because somebody says so. */
export function secretsIn(variables: Variables, isNamed: (name: string) => boolean): Secret[] {
  const secrets: Secret[] = [];
  for (const [name, raw = ''] of Object.entries(variables)) {
    const value = raw.trim();
    if (value.length < MIN_LENGTH) continue;
    if (isNamed(name) || isSecret(name, value)) secrets.push({ name, text: value }, ...partsOf(name, value));
    else secrets.push(...passwordsIn(name, value));
  }
  return secrets;
}

function isSecret(name: string, value: string): boolean {
  if (value.includes('-----BEGIN') && /-----BEGIN [A-Z0-9 ]*PRIVATE KEY/.test(value)) return true;
  if (!hasSecretName(name)) return value.startsWith('{') && value.includes('"private_key"');
  return hasSecretValue(name, value);
}

/** Long lines of a long value, and what is secret in a table of values: each is worth as much as the whole. */
function partsOf(name: string, value: string): Secret[] {
  const fields = value.startsWith('{') ? fieldsIn(name, value) : [];
  const lines = [value, ...fields.map(({ text }) => text)].flatMap((text) =>
    text.replaceAll('\r', '\n').split('\n'),
  );
  const long = lines.map((line) => line.trim()).filter((line) => line !== value && isMaterial(line));
  return [...fields, ...passwordsIn(name, value), ...long.map((text) => ({ name, text, part: true }))];
}

/** A line that could be of nothing but a key. */
function isMaterial(line: string): boolean {
  return /^[A-Za-z0-9+/=_-]{24,}$/.test(line) && /\d/.test(line) && /[A-Z]/.test(line);
}

function fieldsIn(name: string, json: string): Secret[] {
  const secrets: Secret[] = [];
  const collect = (field: string, value: unknown): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [inner, one] of Object.entries(value)) collect(inner, one);
    } else if (typeof value === 'string' && value.length >= MIN_LENGTH) {
      if (hasSecretName(field) && hasSecretValue(field, value)) secrets.push({ name, text: value });
    }
  };
  try {
    collect('', JSON.parse(json));
  } catch {
    // It only looked like JSON.
  }
  return secrets;
}

const URL_PASSWORD = /[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/@]{8,})@/gi;
const SETTING_PASSWORD = /(?:^|[;\s])(?:password|pwd|accountkey|sharedaccesskey)\s*=\s*([^;\s]{8,})/gi;

/** Passwords in addresses and connection strings, whatever the variable is called; and such an address as a whole. */
function passwordsIn(name: string, value: string): Secret[] {
  const found = [
    ...(value.includes('@') ? value.matchAll(URL_PASSWORD) : []),
    ...(value.includes('=') ? value.matchAll(SETTING_PASSWORD) : []),
  ];
  if (found.length === 0) return [];
  const texts = found.flatMap(([, password = '']) => [password, decoded(password)]);
  return [...new Set([value, ...texts])].map((text) => ({ name, text }));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
