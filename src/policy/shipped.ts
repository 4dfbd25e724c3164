import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { sha256 } from '../lib/ids.js';
import { isInside } from '../lib/real-path.js';
import { readRegularFile } from '../lib/regular-file.js';
import { oneLine } from '../lib/text.js';
import type { Mode } from '../protocol/decision.js';
import { configProblem } from '../protocol/problem.js';
import type { PolicyDocument } from './document.js';
import { fold, type EffectivePolicy, type PolicyFlags } from './fold.js';
import { loadPolicies } from './load.js';
import { policyHash } from './policy-hash.js';
import { isPresetName, presetsFolder } from './preset-names.js';

/** Policies as text, to be read elsewhere: presets by name, files with all that they extend. */
export interface ShippedPolicies {
  readonly names: readonly string[];
  /** By their paths, relative to a common folder. */
  readonly files: Readonly<Record<string, string>>;
  readonly mode?: Mode;
  /** Of their content. */
  readonly sha256: string;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** The text of loaded policies. Throws a Problem if a file has changed since. */
export function shipPolicies(
  effective: EffectivePolicy,
  { policies, mode, folder }: { policies: readonly string[]; mode: Mode | undefined; folder: string },
): ShippedPolicies {
  const presets = presetsFolder();
  const own = effective.sources.filter(({ file }) => !isInside(presets, file));
  const root = commonFolder(own.map(({ file }) => dirname(file)));
  const files = own.map(({ file, sha256: known }) => {
    const { bytes } = readRegularFile(file, MAX_BYTES);
    if (sha256(bytes) !== known) throw configProblem('policy', `${file} was changed while the run started`);
    return [relative(root, file), bytes.toString('utf8')] as const;
  });
  return {
    names: policies.map((name) => (isPresetName(name) ? name : `./${relative(root, resolve(folder, name))}`)),
    files: Object.fromEntries(files),
    ...(mode && { mode }),
    sha256: policyHash(effective.recorded),
  };
}

function commonFolder(folders: readonly string[]): string {
  let [common = '/'] = folders;
  while (!folders.every((folder) => folder === common || isInside(common, folder))) common = dirname(common);
  return common;
}

export interface ShippedPlace {
  /** The folder for their files. */
  readonly folder: string;
  /** Policies of this machine: what these do not allow is not allowed, whatever the shipped ones say. */
  readonly ceiling: readonly string[];
  readonly ceilingFolder: string;
}

/** Reads policies from elsewhere as strictly as any other, under a ceiling. Throws a Problem. */
export async function loadShipped(
  shipped: ShippedPolicies,
  flags: PolicyFlags,
  { folder, ceiling, ceilingFolder }: ShippedPlace,
): Promise<EffectivePolicy> {
  const { names, files, mode } = shipped;
  for (const [name, text] of Object.entries(files)) {
    const path = resolve(folder, name);
    if (isAbsolute(name) || !isInside(folder, path)) throw shippedProblem(`a policy file is named ${name}`);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
  }
  for (const name of names)
    if (!isPresetName(name) && !Object.hasOwn(files, join(name)))
      throw shippedProblem(`the policy ${name} is not among its files`);
  const sent = await loadPolicies({ policies: names, mode, folder });
  if (
    sent.some(({ sources }) =>
      sources.some(({ file }) => !isInside(folder, file) && !isInside(presetsFolder(), file)),
    )
  )
    throw shippedProblem('its policies extend files on this machine');
  if (policyHash(fold(sent).recorded) !== shipped.sha256)
    throw shippedProblem('its policies resolve differently here', 'Is this another version of Bosun?');
  const own =
    ceiling.length === 0
      ? []
      : await loadPolicies({ policies: ceiling, mode: undefined, folder: ceilingFolder });
  if (own.length > 0) checkPrograms(sent, own);
  return fold([...sent, ...own], flags);
}

/** Programs not named here are not started: rules decide about calls, not about these. */
function checkPrograms(sent: readonly PolicyDocument[], own: readonly PolicyDocument[]): void {
  const programsOf = ({ servers, discovery, onAsk }: PolicyDocument) =>
    [...servers, discovery, onAsk].filter((one) => typeof one === 'object').map((one) => JSON.stringify(one));
  const known = own.flatMap(programsOf);
  const unknown = sent.flatMap(programsOf).find((program) => !known.includes(program));
  if (unknown !== undefined)
    throw shippedProblem(
      `its policies start a program that the ceiling does not name: ${oneLine(unknown, 200)}`,
    );
}

/** Why a worker rejects what came from elsewhere. */
export function shippedProblem(message: string, hint?: string) {
  return configProblem('refused', message, hint === undefined ? {} : { hint });
}
