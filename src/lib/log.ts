import type { Logger } from 'pino';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type Severity = Exclude<LogLevel, 'silent'>;

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'pretty' | 'json';
  readonly color: boolean;
  readonly write: (text: string) => void;
}

/** Lines for people and log collectors. Loading the library waits until there is something to say. */
export class Log {
  readonly #options: LogOptions;
  readonly #backlog: [Severity, string, object][] = [];
  #loading: Promise<void> | undefined;
  #logger: Logger | undefined;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  error = (message: string, fields?: object) => this.#say('error', message, fields);
  warn = (message: string, fields?: object) => this.#say('warn', message, fields);
  info = (message: string, fields?: object) => this.#say('info', message, fields);
  debug = (message: string, fields?: object) => this.#say('debug', message, fields);

  /** Resolves when all that was said is written. */
  async flush(): Promise<void> {
    await this.#loading;
  }

  #say(severity: Severity, message: string, fields: object = {}): void {
    if (LOG_LEVELS.indexOf(severity) > LOG_LEVELS.indexOf(this.#options.level)) return;
    if (this.#logger) return this.#logger[severity](fields, message);
    this.#backlog.push([severity, message, fields]);
    this.#loading ??= this.#load();
  }

  async #load(): Promise<void> {
    const { createLogger } = await import('./log-lines.js');
    const logger = createLogger(this.#options);
    for (const [severity, message, fields] of this.#backlog) logger[severity](fields, message);
    this.#logger = logger;
  }
}
