/** Keeps words apart for GitHub, and shows nothing. */
const GAP = '\u200b';

/**
 * Untrusted text for titles, bodies and commit messages: GitHub takes nothing in it for a mention, a reference to an issue, a
 * link, HTML, or an order to its CI. Fences of Markdown are not enough: bodies become commit messages, where there are none.
 */
export function defused(text: string): string {
  return text
    .replaceAll(/@(?=\w)/g, `@${GAP}`)
    .replaceAll(/#(?=\d)/g, `#${GAP}`)
    .replaceAll(/\b(gh-)(?=\d)/gi, `$1${GAP}`)
    .replaceAll(/:(?=\/\/)/g, `:${GAP}`)
    .replaceAll(/\b(www)(?=\.)/gi, `$1${GAP}`)
    .replaceAll(/<(?=[\w!/?])/g, `<${GAP}`)
    .replaceAll(/--(?=>)/g, `--${GAP}`)
    .replaceAll(/\[(?=(?:skip|no|ci|actions)\b)/gi, `[${GAP}`)
    .replaceAll(/^(\s*[\w-]+)(?=:\s)/gm, (all: string, name: string) =>
      /^\s*(?:skip-checks|co-authored-by|signed-off-by|bosun-key)$/i.test(name) ? `${name}${GAP}` : all,
    );
}
