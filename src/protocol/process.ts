/** A command line to run for a tool. */
export interface CommandRequest {
  readonly command: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  /** stdout and stderr, in the order in which they were written. Must not throw. */
  readonly onOutput: (chunk: Uint8Array) => void;
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

/** A program to run without a shell: it gets its input and is listened to until it ends. */
export interface ProgramRequest {
  readonly command: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
}

export type RunProgram = (request: ProgramRequest) => Promise<CommandEnd>;
