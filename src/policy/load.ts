import { completed, type PolicyDocument } from './document.js';
import { checkExamples } from './examples.js';
import { extended } from './extend.js';
import { checkMentions, mentionsIn } from './mentions.js';
import { isSection, type Group, type Key } from './keys/row.js';
import { KEYS } from './keys/table.js';
import { folderOf, policyProblem, type PolicySource } from './place.js';
import { checkReachable } from './reachable.js';
import { policyFile, readSource } from './source.js';

export interface LoadSettings {
  /** Where relative names count from. */
  readonly folder: string;
  /** Where the presets are. */
  readonly presets: string;
}

/** Loads the policies of a run. What one says of a server may hold for that of another. */
export async function loadAll(names: readonly string[], settings: LoadSettings): Promise<PolicyDocument[]> {
  const documents: PolicyDocument[] = [];
  for (const name of names) documents.push(await loadPolicy(name, settings));
  checkMentions(documents);
  return documents;
}

/** Loads a policy by preset name or path, with all that it extends. Anything doubtful is a problem. */
export async function loadPolicy(name: string, settings: LoadSettings): Promise<PolicyDocument> {
  const document = await load(policyFile(name, settings.folder, settings.presets), settings, []);
  checkReachable(document.rules);
  await checkExamples(document.rules);
  return document;
}

async function load(file: string, settings: LoadSettings, path: readonly string[]): Promise<PolicyDocument> {
  const source = await readSource(file);
  let document = completed({});
  for (const [i, name] of ((source.value['extends'] ?? []) as readonly string[]).entries()) {
    const base = baseFile(source, name, i, settings);
    if (base === file || path.includes(base)) {
      throw policyProblem(source, ['extends', i], `it extends itself: ${[...path, file, base].join(' -> ')}`);
    }
    document = layer(document, await load(base, settings, [...path, file]));
  }
  const { sha256 } = source;
  return layer(document, {
    ...(await ownValues(KEYS, source)),
    sources: [{ file, sha256 }],
    mentions: mentionsIn(source),
  });
}

function baseFile(source: PolicySource, name: string, index: number, { presets }: LoadSettings): string {
  try {
    return policyFile(name, folderOf(source), presets);
  } catch (error) {
    throw policyProblem(source, ['extends', index], (error as Error).message);
  }
}

/** What a file says lies upon what it extends. */
function layer(
  base: PolicyDocument,
  over: Pick<PolicyDocument, 'sources' | 'mentions'> & Partial<PolicyDocument>,
): PolicyDocument {
  return {
    ...(extended(KEYS, base, over) as unknown as PolicyDocument),
    sources: [...over.sources, ...base.sources],
    mentions: [...base.mentions, ...over.mentions],
  };
}

/** What a file itself says, in our words; what it says nothing about is not there. */
async function ownValues(group: Group, source: PolicySource): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [name, node] of Object.entries(group)) {
    if (!isSection(node)) {
      const written = writtenAt(source, node.key);
      if (written !== undefined) values[name] = await valueOf(node, written, source);
    } else if (node.at === undefined || writtenAt(source, node.at) !== undefined) {
      values[name] = await ownValues(node.rows, source);
    }
  }
  return values;
}

function writtenAt({ value }: PolicySource, key: string): unknown {
  let found: unknown = value;
  for (const step of key.split('.')) found = (found as Record<string, unknown> | undefined)?.[step];
  return found;
}

/** The schema has seen to it that what is written fits its key. */
function valueOf({ read, parse }: Key, written: unknown, source: PolicySource): unknown {
  if (read) return read(written as never, source);
  return parse ? parse(written as never) : written;
}
