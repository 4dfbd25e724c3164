export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type Severity = Exclude<LogLevel, 'silent'>;

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'pretty' | 'json';
  readonly color: boolean;
  readonly write: (text: string) => void;
}

/** Writes one line. */
export type Say = (severity: Severity, message: string, fields: object) => void;
