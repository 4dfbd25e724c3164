import { nearest } from '../lib/nearest.js';
import { oneLine } from '../lib/text.js';
import type { ParamsSchema } from './params.js';

/**
 * Names that models know from the tools of other programs. Each stands for the first parameter after it that a tool
 * has; if it has none of them, the name means nothing here, and is left out.
 */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  absolute_path: ['file_path'],
  path: ['file_path'],
  paths: ['include', 'path'],
  dir_path: ['path', 'directory'],
  directory: ['path'],
  cwd: ['directory', 'path'],
  workdir: ['directory'],
  working_directory: ['directory'],
  include_pattern: ['include'],
  total_max_matches: ['max_matches'],
  replace_all: ['allow_multiple'],
  url: ['prompt'],
  instruction: [],
  is_background: [],
  run_in_background: [],
  delay_ms: [],
  timeout: [],
  additional_permissions: [],
  respect_gemini_ignore: [],
  file_filtering_options: [],
  useDefaultExcludes: [],
  exclude_pattern: [],
  names_only: [],
  max_matches_per_file: [],
  fixed_strings: [],
  after: [],
  before: [],
  no_ignore: [],
};

export interface Fitted {
  /** What is left for the schema to judge. */
  readonly params: unknown;
  /** The names that were left out, with dots if nested. */
  readonly ignored: readonly string[];
}

/**
 * Arguments under the names that a tool has. Misspelt ones stay, so that the schema rejects them by name, and so do
 * those that the tool itself does not let go.
 */
export function fitParameters(raw: unknown, schema: ParamsSchema, refused: readonly string[]): Fitted {
  const ignored: string[] = [];

  function fitValue(value: unknown, { properties }: ParamsSchema, at: string): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const given = Object.entries(value as object) as [string, unknown][];
    const isKnown = (name: string) => Object.hasOwn(properties, name);
    const fitted = new Map<string, unknown>();
    for (const [name, own] of given)
      if (isKnown(name)) fitted.set(name, inside(own, properties[name], `${at}${name}.`));
    const left = given.filter(([name, own]) => {
      const meant = meaningOf(name)?.find(isKnown);
      if (isKnown(name)) return false;
      // If both spellings are given, the tool's own counts.
      if (meant !== undefined && !fitted.has(meant)) fitted.set(meant, own);
      return meant === undefined || fitted.get(meant) !== own;
    });
    const absent = Object.keys(properties).filter((name) => !fitted.has(name));
    for (const [name, own] of left) {
      const isMisspelt = !meaningOf(name) && nearest(name, absent) !== undefined;
      if (isMisspelt || (own !== false && refused.includes(name))) fitted.set(name, own);
      else ignored.push(at + name);
    }
    return Object.fromEntries(fitted);
  }

  function inside(value: unknown, schemaOf: ParamsSchema['properties'][string] | undefined, at: string) {
    if (schemaOf?.type === 'object') return fitValue(value, schemaOf, at);
    const items = schemaOf?.type === 'array' ? schemaOf.items : undefined;
    if (items?.type !== 'object' || !Array.isArray(value)) return value;
    return value.map((item, i) => fitValue(item, items, `${at}${i}.`));
  }

  return { params: fitValue(raw, schema, ''), ignored };
}

function meaningOf(name: string): readonly string[] | undefined {
  return Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
}

const MAX_NAMES = 5;

/** One line for the model about what was left out. */
export function ignoredNote(tool: string, ignored: readonly string[]): string | undefined {
  return ignored.length === 0 ? undefined : `[Ignored, not known to ${tool}: ${nameList(ignored)}.]`;
}

/** Names from outside, as few and as short as a message can hold. */
export function nameList(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => `\`${oneLine(name, 40)}\``);
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return shown.join(', ') + more;
}
