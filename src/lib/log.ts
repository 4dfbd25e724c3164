import { LOG_LEVELS, type LogOptions, type Say, type Severity } from './log-level.js';

/** Lines for people and log collectors. Loading the library waits until there is something to say. */
export class Log {
  readonly #options: LogOptions;
  readonly #backlog: Parameters<Say>[] = [];
  #loading: Promise<void> | undefined;
  #say: Say = (...line) => {
    this.#backlog.push(line);
    this.#loading ??= this.#load();
  };

  constructor(options: LogOptions) {
    this.#options = options;
  }

  error = (message: string, fields?: object): void => this.#write('error', message, fields);
  warn = (message: string, fields?: object): void => this.#write('warn', message, fields);
  info = (message: string, fields?: object): void => this.#write('info', message, fields);
  debug = (message: string, fields?: object): void => this.#write('debug', message, fields);

  /** Resolves when all that was said is written. */
  async flush(): Promise<void> {
    await this.#loading;
  }

  #write(severity: Severity, message: string, fields: object = {}): void {
    if (LOG_LEVELS.indexOf(severity) <= LOG_LEVELS.indexOf(this.#options.level)) {
      this.#say(severity, message, fields);
    }
  }

  /** A log that cannot be opened, for want of file handles, must not become the outcome of a run: it is plain then. */
  async #openLines(): Promise<Say> {
    try {
      const { createSay } = await import('./log-lines.js');
      return createSay(this.#options);
    } catch {
      return (severity, message) => this.#options.write(`bosun: ${severity}: ${message}\n`);
    }
  }

  async #load(): Promise<void> {
    this.#say = await this.#openLines();
    for (const line of this.#backlog) this.#say(...line);
  }
}
