import { hasSecretName, hasSecretValue } from './looks-secret.js';
import { partsOf, type Piece } from './parts.js';
import { MIN_LENGTH } from './spellings.js';
import { decodedUri } from '../parse-url.js';

/** A text to hide, and its name. */
export interface Secret extends Piece {
  readonly name: string;
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** The secrets of an environment: by name, by value, or because the policy says so. */
export function secretsIn(variables: Variables, isNamed: (name: string) => boolean): Secret[] {
  const secrets: Secret[] = [];
  for (const [name, raw = ''] of Object.entries(variables)) {
    const value = raw.trim();
    if (value.length < MIN_LENGTH) continue;
    if (isNamed(name) || isSecret(name, value))
      secrets.push({ name, text: value }, ...partsOf(name, value).map((piece) => ({ name, ...piece })));
    secrets.push(...passwordsIn(name, value));
  }
  return secrets;
}

function isSecret(name: string, value: string): boolean {
  if (value.includes('-----BEGIN') && /-----BEGIN [A-Z0-9 ]*PRIVATE KEY/.test(value)) return true;
  if (!hasSecretName(name)) return value.startsWith('{') && value.includes('"private_key"');
  return hasSecretValue(name, value);
}

const URL_PASSWORD = /[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/@]{8,})@/gi;
const SETTING_PASSWORD = /(?:^|[;\s])(?:password|pwd|accountkey|sharedaccesskey)\s*=\s*([^;\s]{8,})/gi;

/** Passwords in addresses and connection strings, whatever the variable's name; and the whole address. */
function passwordsIn(name: string, value: string): Secret[] {
  const found = [
    ...(value.includes('@') ? value.matchAll(URL_PASSWORD) : []),
    ...(value.includes('=') ? value.matchAll(SETTING_PASSWORD) : []),
  ];
  if (found.length === 0) return [];
  const texts = found.flatMap(([, password = '']) => [password, decodedUri(password)]);
  return [...new Set([value, ...texts])].map((text) => ({ name, text }));
}
