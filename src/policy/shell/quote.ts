/** Control characters, with their escapes. */
const ESCAPES = new Map([
  ['\u0007', String.raw`\a`],
  ['\b', String.raw`\b`],
  ['\u001b', String.raw`\e`],
  ['\f', String.raw`\f`],
  ['\r', String.raw`\r`],
  ['\v', String.raw`\v`],
]);
const CONTROLS = new RegExp(`[${[...ESCAPES.keys()].join('')}]+`, 'gu');

/** Quotes a text as one word that can mean nothing else. */
export function quote(text: string): string {
  const quoted = `'${text.replaceAll("'", `'"'"'`)}'`;
  // Only bash has these escapes. In a script for sh there are no control characters: they only come from `$'…'`.
  return quoted.replaceAll(CONTROLS, (controls) => {
    const escapes = [...controls].map((control) => ESCAPES.get(control)).join('');
    return `'$'${escapes}''`;
  });
}
