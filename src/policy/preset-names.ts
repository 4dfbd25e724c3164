import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nearest } from '../lib/nearest.js';
import { configProblem, type Problem } from '../protocol/problem.js';

/** The presets that ship with Bosun, wherever it is installed. */
export function presetsFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const presets = join(folder, 'policies');
    if (existsSync(join(presets, 'read-only.yaml'))) return presets;
    if (dirname(folder) === folder) throw configProblem('presets', 'the presets are not installed');
  }
}

export interface Preset {
  readonly name: string;
  readonly about: string;
  readonly text: string;
}

/** The presets, each with the first sentence about it. */
export function listPresets(): Preset[] {
  const folder = presetsFolder();
  return presetNames(folder).map((name) => {
    const text = readFileSync(join(folder, `${name}.yaml`), 'utf8');
    const about = /^# (?!yaml-language-server)(.+)$/m.exec(text)?.[1] ?? '';
    return { name, about, text };
  });
}

export function presetNames(presets: string): string[] {
  return readdirSync(presets)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.slice(0, -'.yaml'.length))
    .sort();
}

/** A word without `/` and `.` is a preset; everything else is a path. */
export function isPresetName(name: string): boolean {
  return !/[/.\\]/.test(name);
}

/** The file of a policy; a path is relative to where it is named. */
export function policyFile(name: string, folder: string, presets: string): string {
  if (!isPresetName(name)) return isAbsolute(name) ? name : resolve(folder, name);
  const known = presetNames(presets);
  if (known.includes(name)) return join(presets, `${name}.yaml`);
  throw unknownPreset(name, known);
}

export function unknownPreset(name: string, known: readonly string[]): Problem {
  const near = nearest(name, known);
  return configProblem('policy', `there is no preset ${name}${near ? ` (did you mean ${near}?)` : ''}`, {
    hint: `The presets are ${known.join(', ')}; a file needs a / or a . in its name.`,
  });
}
