import { oneLine } from '../../lib/text.js';
import type { GroundedReply } from '../../protocol/provider.js';

type Cited = Pick<GroundedReply, 'text' | 'sources' | 'supports'>;

/** An answer with `[1]` after what a source supports, and the list of sources at its end. */
export function withCitations({ text, sources, supports }: Cited): string {
  const cited = placeMarks(text, supports);
  if (sources.length === 0) return cited;
  const list = sources.map(
    ({ uri, title }, i) => `[${i + 1}] ${oneLine(title) || 'untitled'}: ${oneLine(uri, 2000)}`,
  );
  return `${cited.trimEnd()}\n\nSources:\n${list.join('\n')}`;
}

/** Offsets are bytes of UTF-8; one inside a character or past the end means the next valid place. */
function placeMarks(text: string, supports: Cited['supports']): string {
  const bytes = Buffer.from(text);
  const marks = new Map<number, Set<number>>();
  for (const { end, sources } of supports) {
    if (end <= 0) continue;
    const at = characterEnd(bytes, end);
    const numbers = marks.get(at) ?? new Set();
    for (const source of sources) numbers.add(source + 1);
    marks.set(at, numbers);
  }
  const pieces: string[] = [];
  let from = 0;
  for (const [at, numbers] of [...marks].sort(([a], [b]) => a - b)) {
    pieces.push(bytes.toString('utf8', from, at));
    pieces.push(...[...numbers].sort((a, b) => a - b).map((number) => `[${number}]`));
    from = at;
  }
  return pieces.join('') + bytes.toString('utf8', from);
}

function characterEnd(bytes: Buffer, offset: number): number {
  let at = Math.min(offset, bytes.length);
  while (at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80) at++;
  return at;
}
