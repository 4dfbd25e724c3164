import { pino } from 'pino';
import type { LogOptions, Say, Severity } from './log-level.js';
import { painter, type Paint } from './paint.js';

/** The logger behind `Log`, in a file of its own so that it is loaded only when there is something to say. */
export function createSay({ level, format, write, color }: LogOptions): Say {
  const options = {
    level,
    base: { name: 'bosun' },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const paint = painter(color);
  const logger = pino(options, {
    write: format === 'json' ? write : (line: string) => write(pretty(line, paint)),
  });
  return (severity, message, fields) => logger[severity](fields, message);
}

const COLORS = { error: 'red', warn: 'yellow', info: 'cyan', debug: 'gray' } as const;

function pretty(line: string, paint: Paint): string {
  const { level, msg } = JSON.parse(line) as { level: Severity; msg: string };
  const label = level === 'info' ? 'bosun:' : `bosun: ${level}:`;
  return `${paint(COLORS[level], label)} ${msg}\n`;
}
