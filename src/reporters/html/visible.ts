/**
 * Characters that show nothing, or change how others look: controls, direction marks, zero-width spaces, tags that
 * spell hidden text, halves of pairs. Joiners stay: scripts and symbols need them.
 */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu;

/** The text with everything in it made visible, so that people read what is really there. */
export function revealCharacters(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(HIDDEN, characterName);
}

function characterName(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
}
