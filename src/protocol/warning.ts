import type { ErrorEvent } from './event.js';

/** The event for something that a run continues without; `source` is a word for where it comes from. */
export function warning(source: string, message: string): ErrorEvent {
  return { type: 'error', severity: 'warning', class: source, message };
}
