import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export type Paint = (style: Style, text: string) => string;

/** Colours, or none. */
export function painter(color: boolean): Paint {
  return color ? (style, text) => styleText(style, text) : (_style, text) => text;
}

/** A unified diff with its lines in colour. */
export function paintDiff(diff: string, paint: Paint): string {
  return diff
    .split('\n')
    .map((line) => {
      if (line.startsWith('+')) return paint('green', line);
      if (line.startsWith('-')) return paint('red', line);
      return line.startsWith('@@') ? paint('cyan', line) : line;
    })
    .join('\n');
}
