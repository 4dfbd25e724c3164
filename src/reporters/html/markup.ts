import { revealCharacters } from './visible.js';

/** Text that is HTML already. Only `markup` creates it, so anything else put into a page is escaped. */
export class Html {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** For what this project itself wrote or encoded: never for words of a model or a tool. */
  static trusted(text: string): Html {
    return new Html(text);
  }
}

type Value = Html | string | number | false | undefined | readonly Html[];

/** HTML with values in it. Attributes must be in `"`. */
export function markup(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = strings[0] ?? '';
  for (const [i, value] of values.entries()) text += markupText(value) + (strings[i + 1] ?? '');
  return Html.trusted(text);
}

function markupText(value: Value): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return escapeText(String(value));
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return revealCharacters(text).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/** A value as JSON for a script element: nothing in it ends the element or begins a comment. */
export function jsonFor(value: unknown): Html {
  const json = JSON.stringify(value);
  return Html.trusted(
    json.replaceAll(
      /[<>&\u2028\u2029]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
}
