/** A command line that a shell splits into these words. */
export function shellWords(words: readonly string[]): string {
  return words.map(shellQuoted).join(' ');
}

function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
