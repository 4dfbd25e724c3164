import { pino } from 'pino';
import type { LogOptions, Say } from './log-level.js';

/** The logger that `Log` uses, in its own file so that it is loaded only when there is something to log. */
export function createSay({ level, write }: LogOptions): Say {
  const options = {
    level,
    base: { name: 'bosun' },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, { write });
  return (severity, message, fields) => logger[severity](fields, message);
}
