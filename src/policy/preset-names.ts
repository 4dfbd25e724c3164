import { readdirSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { nearest } from '../lib/nearest.js';
import { configProblem } from '../protocol/problem.js';

export function presetNames(presets: string): string[] {
  return readdirSync(presets)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.slice(0, -'.yaml'.length))
    .sort();
}

/** A word without `/` and `.` is a preset; everything else is a path, from where it is named. */
export function policyFile(name: string, folder: string, presets: string): string {
  if (/[/.\\]/.test(name)) return isAbsolute(name) ? name : resolve(folder, name);
  const known = presetNames(presets);
  if (known.includes(name)) return join(presets, `${name}.yaml`);
  const near = nearest(name, known);
  throw configProblem('policy', `there is no preset ${name}${near ? ` (did you mean ${near}?)` : ''}`, {
    hint: `The presets are ${known.join(', ')}; a file needs a / or a . in its name.`,
  });
}
