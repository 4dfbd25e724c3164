import { join } from 'node:path';
import { attempt } from '../../lib/attempt.js';
import { isMap, type Values } from './carried-strictest.js';
import { readText } from './reached-files.js';

/** Fields of a package that its users import by, and no script of its own. */
const ENTRIES = /^(main|module|browser|types|typings|exports|imports|files|bin|man)$/;

export interface PackageScripts {
  /** The texts of a script: its own, those of its pre and post scripts, and every one that it names. */
  readonly texts: readonly string[];
  /** Settings of programs next to the scripts. */
  readonly settings: string;
}

/** The scripts behind `npm run x`, from the package's folder. Undefined if no package there can be read. */
export function packageScripts(folder: string, script: string): PackageScripts | undefined {
  const text = readText(join(folder, 'package.json'));
  const value: unknown = text === undefined ? undefined : attempt(() => JSON.parse(text) as unknown);
  if (!isMap(value)) return undefined;
  const scripts = isMap(value['scripts']) ? value['scripts'] : {};
  const texts = closureOf(script, scripts).map((name) => String(scripts[name]));
  const settings = Object.entries(value).filter(([key]) => key !== 'scripts' && !ENTRIES.test(key));
  return { texts, settings: JSON.stringify(settings) };
}

function closureOf(first: string, scripts: Values): string[] {
  const names = Object.keys(scripts);
  const found = new Set<string>();
  const open = [first];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const one of [`pre${name}`, name, `post${name}`]) {
      if (!names.includes(one) || found.has(one)) continue;
      found.add(one);
      const words: readonly string[] = String(scripts[one]).match(/[^\s"'&|;()]+/g) ?? [];
      open.push(...names.filter((other) => words.some((word) => means(word, other))));
    }
  }
  return [...found];
}

/** `run-s build:*` starts every script that begins like this. */
function means(word: string, name: string): boolean {
  const [head = '', ...rest] = word.split('*');
  return rest.length > 0 ? name.startsWith(head) : word === name || word === `npm:${name}`;
}
