import { isInside } from '../../lib/real-path.js';

/** A path without quotes in a command line, whatever is around it. */
const PLAIN_PATH = /^[\w@%+=:,./~^-]+$/;

/**
 * The arguments of a call with paths below one workspace moved below another. Undefined if a command line names the
 * old workspace and one of the two would need quotes there.
 */
export function movedArguments(
  args: unknown,
  from: string,
  to: string,
  commandIn: string | undefined,
): { readonly args: unknown } | undefined {
  if (from === to || from === '' || typeof args !== 'object' || args === null) return { args };
  const moved: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    const isLine = name === commandIn && typeof value === 'string' && value.includes(from);
    if (isLine && !(PLAIN_PATH.test(to) && PLAIN_PATH.test(from))) return undefined;
    moved[name] = isLine ? inLine(value, from, to) : moveAll(value, from, to);
  }
  return { args: moved };
}

function moveAll(value: unknown, from: string, to: string): unknown {
  if (Array.isArray(value)) return value.map((one) => moveAll(one, from, to));
  if (typeof value !== 'string' || !value.startsWith('/') || !isInside(from, value)) return value;
  return `${to}${value.slice(from.length)}`;
}

/** Only whole paths of the workspace: `/a/b` is not in `/a/bc`, nor in `/x/a/b`. */
function inLine(line: string, from: string, to: string): string {
  const escaped = from.replaceAll(/[.+^$]/g, String.raw`\$&`);
  return line.replaceAll(new RegExp(`(?<![\\w./@%+:,~^-])${escaped}(?![\\w@%+=:,.~^-])`, 'g'), () => to);
}
