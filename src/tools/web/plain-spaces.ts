/** The longest gap that a page may have. Patterns that look for the last spaces take minutes for half a million. */
const GAP = /\s{200,}/g;
const SPACE_NAMES =
  'NonBreakingSpace|ensp|emsp|emsp1[34]|numsp|puncsp|thinsp|ThinSpace|hairsp|VeryThinSpace|MediumSpace|Tab';
/** A reference to a character by number, or to a space by name. */
const REFERENCE = new RegExp(`&(?:#(\\d{1,7});?|#x([\\da-f]{1,6});?|nbsp;?|(?:${SPACE_NAMES});)`, 'gi');
/** Spaces that HTML does not collapse, and neither does what converts it. */
const ODD_SPACE = /[^\S \t\r\n]/g;

/** Text of HTML in which every space is an ordinary one, and no gap is endless. */
export function plainSpaces(text: string): string {
  return text.replaceAll(REFERENCE, spaceFor).replaceAll(ODD_SPACE, ' ').replaceAll(GAP, shortGap);
}

function shortGap(gap: string): string {
  return gap.slice(0, 200);
}

function spaceFor(whole: string, decimal?: string, hex?: string): string {
  if (decimal === undefined && hex === undefined) return ' ';
  const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  const character = point <= 0x10ffff ? String.fromCodePoint(point) : '';
  if (character === '\n') return '\n';
  return /^\s$/.test(character) ? ' ' : whole;
}
