import { element, pairs, type Child } from './elements.js';
import { foldedText, longText } from './long-text.js';

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textField(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** Any value, in its most readable form. */
export function valueOf(name: string, value: unknown): Child {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string')
    return value.includes('\n') || value.length > 120 ? foldedText(name, value) : value;
  if (typeof value !== 'object') return String(value);
  const short = JSON.stringify(value);
  return short.length <= 120 ? element('code', '', short) : foldedText(name, JSON.stringify(value, null, 2));
}

/** All fields of something unknown here, except those that every event has. */
export function allFields(fields: Fields, without: readonly string[] = []): HTMLElement {
  const left = ['type', 'seq', 'timestamp', 'tool_id', ...without];
  const entries = Object.entries(fields).filter(([name]) => !left.includes(name));
  return pairs(entries.map(([name, value]) => [name.replaceAll('_', ' '), valueOf(name, value)]));
}

/** The main text of an event, in full. */
export function mainText(text: string): Child {
  return text === '' ? undefined : longText(text, 'prose');
}
