import type { Random } from './random.js';

const ATOMS = ['[ab]', '[^a]', '.', String.raw`\w`, String.raw`\.`, String.raw`\b`, String.raw`\S`, '^', '$'];

/** A regular expression over few characters, so that random texts match it now and then. It may not be valid. */
export function randomExpression(random: Random, depth = 0): string {
  const group = () => randomExpression(random, depth + 1);
  const atom = () => {
    switch (random.below(depth > 2 ? 5 : 9)) {
      case 4:
        return random.pick(ATOMS);
      case 5:
        return `(${group()})`;
      case 6:
        return `(?:${group()})`;
      case 7:
        return `(?=${group()})`;
      case 8:
        return `(?<!${group()})`;
      default:
        return random.pick([...'abAB c']);
    }
  };
  const quantified = () => atom() + random.pick(['', '', '', '', '?', '*', '+', '{2}', '*?']);
  const sequence = () => random.list(1 + random.below(4), quantified).join('');
  return random.list(1 + random.below(2), sequence).join('|');
}

export function randomText(random: Random): string {
  return random.list(random.below(30), () => random.pick([...'abAB c.é'])).join('');
}

export function compiled(source: string, flags = ''): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}
