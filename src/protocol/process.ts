/** A command to run for a tool. */
export interface CommandRequest {
  /** A command line for the shell, or a program and its arguments. */
  readonly command: string | readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Its stdin; empty by default. */
  readonly input?: string;
  /** stdout and stderr, in the order in which they were written. Must not throw. */
  readonly onOutput: (chunk: Uint8Array) => void;
  /** For a program, not for a command line: stderr separately. */
  readonly onErrorOutput?: (chunk: Uint8Array) => void;
}

export type CommandEnd =
  | {
      readonly type: 'ended';
      readonly exitCode: number | null;
      readonly signal: string | null;
      /** Why we ended it, if we did. */
      readonly stopped?: 'timeout' | 'idle_timeout' | 'aborted';
      /** Processes it left behind; none of them is alive any more. */
      readonly leftovers: readonly number[];
    }
  | { readonly type: 'not_started'; readonly message: string };

export type RunCommand = (request: CommandRequest) => Promise<CommandEnd>;

/** A program that keeps running, used through its stdin and stdout. */
export interface ServerRequest {
  readonly command: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly onOutput: (chunk: Buffer) => void;
  readonly onErrorOutput: (chunk: Buffer) => void;
  /** Called once, when it has ended for any reason. */
  readonly onEnd: (how: string) => void;
}

export interface RunningServer {
  /** Resolves when there is room for more. What is written to a server that has ended is lost. */
  write(text: string): Promise<void>;
  /** Closes its stdin; if that does not end it, ends it with all that it has started. */
  stop(): Promise<void>;
}

/** Rejects if the program cannot be started. */
export type StartServer = (request: ServerRequest) => Promise<RunningServer>;

/** How a program is really started. */
export interface Launch {
  readonly program: readonly string[];
  /** A file that it finds open, as the next descriptor after its usual ones. */
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
 * Puts programs into a sandbox. A command says on descriptor 3 that it is inside, and, one per line, which processes
 * it has left behind there; none of them outlives it.
 */
export interface Launcher {
  readonly command: Launching;
  readonly server: Launching;
  /** Called after every command. */
  readonly ended: () => Promise<void>;
  /** A command did not get inside: nothing may be started any more. */
  readonly lost: (message: string) => void;
}
