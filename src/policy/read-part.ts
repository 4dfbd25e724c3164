import { isSection, type Group, type Key } from './keys/row.js';
import { KEYS } from './keys/table.js';
import { mentionsIn } from './mentions.js';
import type { OwnPart } from './own-part.js';
import type { PolicySource } from './place.js';
import { readSource } from './source.js';

/** Reads what a file itself says. */
export async function readPart(file: string): Promise<OwnPart> {
  return partOfSource(await readSource(file));
}

export async function partOfSource(source: PolicySource): Promise<OwnPart> {
  return {
    file: source.file,
    sha256: source.sha256,
    extends: (source.value['extends'] ?? []) as readonly string[],
    values: await ownValues(KEYS, source),
    mentions: mentionsIn(source),
    locate: source.locate,
  };
}

/** A file's own values, under our names; what it does not set is absent. */
async function ownValues(group: Group, source: PolicySource): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [name, node] of Object.entries(group)) {
    if (!isSection(node)) {
      const written = writtenAt(source, node.key);
      if (written !== undefined) values[name] = await parsedValue(node, written, source);
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

/** The schema has made sure that the value fits its key. */
function parsedValue({ read, parse }: Key, written: unknown, source: PolicySource): unknown {
  if (read) return read(written as never, source);
  return parse ? parse(written as never) : written;
}
