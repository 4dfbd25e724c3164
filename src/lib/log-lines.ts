import { styleText } from 'node:util';
import { pino, type Logger } from 'pino';
import type { LogOptions, Severity } from './log.js';

/** The logger behind `Log`, in a file of its own so that it is loaded only when there is something to say. */
export function createLogger({ level, format, write, color }: LogOptions): Logger {
  const options = { level, base: { name: 'bosun' }, formatters: { level: (label: string) => ({ level: label }) } };
  return pino(options, { write: format === 'json' ? write : (line: string) => write(pretty(line, color)) });
}

const COLORS = { error: 'red', warn: 'yellow', info: 'cyan', debug: 'gray' } as const;

function pretty(line: string, color: boolean): string {
  const { level, msg } = JSON.parse(line) as { level: Severity; msg: string };
  const label = level === 'info' ? 'bosun:' : `bosun: ${level}:`;
  return `${color ? styleText(COLORS[level], label) : label} ${msg}\n`;
}
