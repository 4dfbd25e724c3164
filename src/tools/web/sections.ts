import { fairShares } from '../../lib/fair-shares.js';
import { untrustedFence } from '../../lib/fence.js';
import { headOf } from '../../lib/truncate.js';
import type { OutputSink } from '../../protocol/tool.js';

/** One piece of what a call found: our words about it, and its content, which is untrusted. */
export interface Section {
  readonly head: string;
  readonly label: string;
  readonly body?: string;
}

/** Room for the notice about what was cut. */
const NOTICE = 400;
/** If less of a page is left, it is not cut for that. */
const LEAST = 200;

export interface Rendered {
  readonly text: string;
  readonly full_output?: string;
}

/**
 * All sections under one cap. If they are too long, each gets its fair share and the whole goes to the output's
 * file: a cut through the middle would tear the fences apart.
 */
export function renderSections(
  sections: readonly Section[],
  cap: number,
  openOutput: () => OutputSink,
): Rendered {
  const whole = sectionsText(sections);
  if (whole.length <= cap) return { text: whole };
  const bodies = sections.map(({ body = '' }) => body.length);
  const filled = bodies.filter((length) => length > 0).length;
  const around = whole.length - sum(bodies) + filled * NOTICE;
  // No room for anything useful: the scheduler cuts it.
  if (cap - around < filled * LEAST) return { text: whole };
  const shares = fairShares(bodies, cap - around);
  const output = openOutput();
  output.write(Buffer.from(whole));
  const { path, note } = output.finish();
  const cut = sections.map((section, i) => shortened(section, shares[i] ?? 0, note));
  return { text: sectionsText(cut), ...(path !== undefined && { full_output: path }) };
}

function sectionsText(sections: readonly Section[]): string {
  return sections
    .map(({ head, label, body }) => (body === undefined ? head : `${head}\n${untrustedFence(label, body)}`))
    .join('\n\n');
}

function shortened(section: Section, share: number, note: string | undefined): Section {
  const { body } = section;
  if (body === undefined || body.length <= share) return section;
  const where = note === undefined ? '' : `; ${headOf(note, NOTICE - 60)}`;
  return {
    ...section,
    head: `${section.head} [the last ${body.length - share} characters are cut${where}]`,
    body: headOf(body, share),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
