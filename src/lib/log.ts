import { LOG_LEVELS, type LogOptions, type Say, type Severity } from './log-level.js';
import { painter } from './paint.js';

/** Lines for people and log collectors. The library is loaded with the first record. */
export class Log {
  readonly #options: LogOptions;
  readonly #backlog: Parameters<Say>[] = [];
  #loading: Promise<void> | undefined;
  #say: Say;

  constructor(options: LogOptions) {
    this.#options = options;
    this.#say = options.format === 'pretty' ? plainSay(options) : this.#sayLater;
  }

  #sayLater: Say = (...line) => {
    this.#backlog.push(line);
    this.#loading ??= this.#load();
  };

  error = (message: string, fields?: object): void => this.#write('error', message, fields);
  warn = (message: string, fields?: object): void => this.#write('warn', message, fields);
  info = (message: string, fields?: object): void => this.#write('info', message, fields);
  debug = (message: string, fields?: object): void => this.#write('debug', message, fields);

  /** Resolves when everything logged is written. */
  async flush(): Promise<void> {
    await this.#loading;
  }

  #write(severity: Severity, message: string, fields: object = {}): void {
    if (LOG_LEVELS.indexOf(severity) <= LOG_LEVELS.indexOf(this.#options.level)) {
      this.#say(severity, message, fields);
    }
  }

  /** A log that cannot be opened, for lack of file handles, may not decide the outcome of a run: it is plain then. */
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

const COLORS = { error: 'red', warn: 'yellow', info: 'cyan', debug: 'gray' } as const;

function plainSay({ write, color }: LogOptions): Say {
  const paint = painter(color);
  return (severity, message) => {
    const label = severity === 'info' ? 'bosun:' : `bosun: ${severity}:`;
    write(`${paint(COLORS[severity], label)} ${message}\n`);
  };
}
