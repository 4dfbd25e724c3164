/** A command to run for a tool. */
export interface CommandRequest {
  /** A command line for the shell, or a program and its arguments. */
  readonly command: string | readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  /** What it reads from stdin; nothing unless given. */
  readonly input?: string;
  /** stdout and stderr, in the order in which they were written. Must not throw. */
  readonly onOutput: (chunk: Uint8Array) => void;
  /** Of a program, not of a command line: stderr by itself. */
  readonly onErrorOutput?: (chunk: Uint8Array) => void;
}

export type CommandEnd =
  | {
      readonly type: 'ended';
      readonly exitCode: number | null;
      readonly signal: string | null;
      /** Why it was ended by us, if it was. */
      readonly stopped?: 'timeout' | 'idle_timeout' | 'aborted';
      /** Processes it left behind; none of them is alive any more. */
      readonly leftovers: readonly number[];
    }
  | { readonly type: 'not_started'; readonly message: string };

export type RunCommand = (request: CommandRequest) => Promise<CommandEnd>;

/** A program that stays and is talked to through its stdin and stdout. */
export interface ServerRequest {
  readonly command: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly onOutput: (chunk: Buffer) => void;
  readonly onErrorOutput: (chunk: Buffer) => void;
  /** Called once, when it has ended for whatever reason. */
  readonly onEnd: (how: string) => void;
}

export interface RunningServer {
  /** Resolves when there is room for more. What a server that has ended is told is lost. */
  write(text: string): Promise<void>;
  /** Closes its stdin, and ends it and all that it has started if that does not. */
  stop(): Promise<void>;
}

/** Rejects if the program cannot be started. */
export type StartServer = (request: ServerRequest) => Promise<RunningServer>;

/** How a program is really started. */
export interface Launch {
  readonly program: readonly string[];
  /** A file that it finds open, as the next descriptor behind those that it has anyway. */
  readonly open?: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
}

type Launching = (
  program: readonly string[],
  directory: string,
  environment: Readonly<Record<string, string>>,
) => Promise<Launch>;

/**
 * Puts programs into a sandbox. A command says on descriptor 3 that it is inside, and, a line each, which processes it
 * has left behind there; none of them outlives it.
 */
export interface Launcher {
  readonly command: Launching;
  readonly server: Launching;
  /** After every command. */
  readonly ended: () => Promise<void>;
  /** A command did not get inside: nothing is to be started any more. */
  readonly lost: (message: string) => void;
}
