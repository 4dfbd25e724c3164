import { styleText } from 'node:util';
import { pino } from 'pino';
import type { LogOptions, Say, Severity } from './log-level.js';

/** The logger behind `Log`, in a file of its own so that it is loaded only when there is something to say. */
export function createSay({ level, format, write, color }: LogOptions): Say {
  const options = {
    level,
    base: { name: 'bosun' },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, {
    write: format === 'json' ? write : (line: string) => write(pretty(line, color)),
  });
  return (severity, message, fields) => logger[severity](fields, message);
}

const COLORS = { error: 'red', warn: 'yellow', info: 'cyan', debug: 'gray' } as const;

function pretty(line: string, color: boolean): string {
  const { level, msg } = JSON.parse(line) as { level: Severity; msg: string };
  const label = level === 'info' ? 'bosun:' : `bosun: ${level}:`;
  return `${color ? styleText(COLORS[level], label) : label} ${msg}\n`;
}
