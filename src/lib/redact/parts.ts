import { parseJson } from '../parse-json.js';
import { hasSecretName, hasSecretValue, isPlace } from './looks-secret.js';
import { MIN_LENGTH } from './spellings.js';

/** A shorter line occurs in too many other texts. */
const MIN_LINE = 16;
/** More is not a secret, but a collection. */
const MAX_PARTS = 1000;

/** A text to hide. */
export interface Piece {
  readonly text: string;
  /** Searched for literally, not in every spelling: the whole that it is a part of is. */
  readonly part?: boolean;
}

/** Parts of a secret worth as much as the whole: its long lines, its settings, the secret fields of a table. */
export function partsOf(name: string, value: string): Piece[] {
  const texts = [value, ...decodedIn(value)];
  const pieces = texts.slice(1).map((text): Piece => ({ text, part: true }));
  for (const text of texts) {
    const fields = /^[[{]/.test(text) ? fieldsIn(name, text) : [];
    pieces.push(...fields.map((field) => ({ text: field })));
    for (const whole of [text, ...fields]) pieces.push(...linesIn(whole));
  }
  return pieces.filter(({ text }) => text !== value).slice(0, MAX_PARTS);
}

/** `KEY=value`, `key: value`, `"key": "value",`; in a `.netrc` without a sign between them. */
const SETTING = /^(?:export\s+)?["']?([A-Za-z][\w.-]*)["']?\s*[:=]\s*["']?([^\s"'].*?)["']?[,;]?$/;
const NETRC = /\b(password|passwd|token)\s+(\S+)/i;
const FRAME = /^-----|^[[\]{}(),;]+$|^(?:#|\/\/|\/\*|\*|;|--|<!--)/;

/** The secret settings in a text of several lines, and lines that can only belong to a secret. */
function linesIn(text: string): Piece[] {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  if (lines.length < 2) return [];
  // If all of it is prose, the phrase is the secret. Otherwise prose may occur in any text.
  const isPhrase = !lines.some((line) => FRAME.test(line) || settingIn(line));
  return lines.flatMap((line) => {
    const setting = settingIn(line);
    if (setting?.isSecret) return { text: setting.value };
    if (isMaterial(line)) return { text: line, part: true };
    if (setting || line.length < MIN_LINE || FRAME.test(line)) return [];
    return isPhrase || isToken(line) ? { text: line, part: true } : [];
  });
}

function settingIn(line: string): { readonly value: string; readonly isSecret: boolean } | undefined {
  const [, key, value = ''] = SETTING.exec(line) ?? NETRC.exec(line) ?? [];
  if (key === undefined) return undefined;
  return {
    value,
    isSecret: value.length >= MIN_LENGTH && hasSecretName(key) && hasSecretValue(key, value),
  };
}

/** One word that consists of more than words. */
function isToken(line: string): boolean {
  return !/\s/.test(line) && !isPlace(line) && hasSecretValue('', line);
}

/** Can only be a part of a key. */
function isMaterial(text: string): boolean {
  if (text.length < MIN_LINE || !/^[A-Za-z0-9+/=_-]+$/.test(text)) return false;
  const digits = text.replaceAll(/\D/g, '').length;
  // A single digit also occurs in names.
  return /[A-Z]/.test(text) && /[a-z]/.test(text) && digits >= (text.length < 24 ? 2 : 1);
}

/** Fields that are secret by name, or can be nothing else. Items of a list count under the list's name. */
function fieldsIn(name: string, json: string): string[] {
  const found: string[] = [];
  const collect = (field: string, value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) collect(field, one);
    else if (typeof value === 'object' && value !== null)
      for (const [inner, one] of Object.entries(value)) collect(inner, one);
    else if (typeof value === 'string' && value.length >= MIN_LENGTH) {
      if (isMaterial(value) || (hasSecretName(field) && hasSecretValue(field, value))) found.push(value);
    }
  };
  try {
    collect(name, parseJson(json));
  } catch {
    // It only looked like JSON.
  }
  return found;
}

const BASE64 = /^[A-Za-z0-9+/_-][A-Za-z0-9+/_\-\s]{38,}={0,2}$/;
const TEXT = /^(?:[[{]|-----BEGIN )|^[\x20-\x7e]+\n[\x20-\x7e\n]+$/;

/** Keys are often kept as base64 of a file, to have them on one line. */
function decodedIn(value: string): string[] {
  if (!BASE64.test(value)) return [];
  const text = Buffer.from(value, 'base64').toString('utf8').trim();
  return TEXT.test(text) && !text.includes('\ufffd') ? [text] : [];
}
