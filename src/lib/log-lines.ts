import { pino } from 'pino';
import type { LogOptions, Say } from './log-level.js';

/** The logger behind records of `Log`, in a file of its own so that it is loaded only when there is something to say. */
export function createSay({ level, write }: LogOptions): Say {
  const options = {
    level,
    base: { name: 'bosun' },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, { write });
  return (severity, message, fields) => logger[severity](fields, message);
}
