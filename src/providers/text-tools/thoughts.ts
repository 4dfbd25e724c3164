const THINKS = /^\s*<(think|thinking)>/;
/** If a model's template writes the opening tag, the answer has only the closing one. */
const HAS_THOUGHT = /^<\/think(?:ing)?>[ \t\r]*$/m;
const FENCES = /^ {0,3}(?:```|~~~)/gm;

/** Where the thoughts at the start of an answer end; -1 if they never do. */
export function endOfThought(text: string): number {
  const tag = THINKS.exec(text)?.[1];
  if (tag === undefined) {
    const closing = HAS_THOUGHT.exec(text);
    // Not one that is shown in a code block.
    const fences = closing ? (text.slice(0, closing.index).match(FENCES)?.length ?? 0) : 1;
    return closing && fences % 2 === 0 ? closing.index + closing[0].length : 0;
  }
  const closing = text.indexOf(`</${tag}>`);
  return closing < 0 ? -1 : closing + tag.length + '</>'.length;
}

const TAGS = /^\s*<think(?:ing)?>|<\/think(?:ing)?>\s*$/g;

export function withoutThoughtTags(text: string): string {
  return text.replaceAll(TAGS, '').trim();
}
