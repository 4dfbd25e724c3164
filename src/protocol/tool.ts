import type { Part } from './content.js';
import type { Kind } from './kind.js';
import type { Risk } from './risk.js';
import { boolean, count, integer, listOf, object, optionally, text, type TypeOf } from './shape.js';
import type { ToolError } from './tool-error.js';
import type { ToolTraits } from './tool-traits.js';
import type { ModelUsage } from './usage.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What the model is told about a tool. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

export interface PathUse {
  /** As written in the call, relative to the workspace or absolute. */
  readonly path: string;
  readonly access: 'read' | 'write';
  /** Its real path, links followed. What was decided about is what is used. */
  readonly real?: string;
}

/** What a person would be asked before the call runs. */
export type Confirmation =
  | {
      readonly type: 'edit';
      readonly file_path: string;
      readonly old_content: string;
      readonly new_content: string;
      readonly diff: string;
    }
  | {
      readonly type: 'exec';
      readonly command: string;
      readonly directory: string;
      readonly root_commands: readonly string[];
      readonly risk: Risk;
    }
  | { readonly type: 'mcp'; readonly server: string; readonly tool: string }
  | { readonly type: 'info'; readonly description: string };

/** What a call did to one file. */
export const FILE_CHANGE = object({ path: text, diff: text, lines_added: count, lines_removed: count });
export type FileChange = TypeOf<typeof FILE_CHANGE>;

/** How a process ended. */
export const PROCESS_END = object({
  exit_code: optionally(integer),
  signal: optionally(text),
  'timed_out?': boolean,
  'leftover_pids?': listOf(count),
});
export type ProcessEnd = TypeOf<typeof PROCESS_END>;

/** Everything a tool may return for the model: text, one part, several, media, a complete function response. */
export type ToolContent = string | Part | readonly Part[];

interface ToolReportExtras {
  readonly change?: FileChange;
  readonly process?: ProcessEnd;
  /** Where the whole output is, if `content` is only its head and tail. */
  readonly full_output?: string;
  /** What the tool itself used by asking a model. */
  readonly usage?: ModelUsage;
}

/** A tool never throws for expected errors: a failure is a report like any other. */
export type ToolReport =
  | ({ readonly ok: true; readonly content: ToolContent } & ToolReportExtras)
  | ({ readonly ok: false; readonly error: ToolError } & ToolReportExtras);

/** Collects output of unknown size: a bounded head and tail in memory, and all of it on disk once it is long. */
export interface OutputSink {
  /** Returns what may be shown of it and of earlier chunks. */
  write(chunk: Uint8Array): Uint8Array;
  /** Ends the output; `text` fits the cap and says what was cut. */
  finish(): {
    readonly text: string;
    readonly bytes: number;
    readonly binary: boolean;
    readonly path: string | undefined;
    /** Says where it is stored, and whether completely. */
    readonly note?: string;
    /** The part that was not shown yet. */
    readonly rest?: Uint8Array;
  };
}

export interface ExecuteContext {
  readonly callId: string;
  readonly signal: AbortSignal;
  readonly onOutput: (chunk: string) => void;
  readonly openOutput: () => OutputSink;
}

/** One validated call, ready for its decision and to run. */
export interface Invocation {
  readonly params: Readonly<Record<string, unknown>>;
  readonly paths: readonly PathUse[];
  /** What the model is told besides the result. */
  readonly note?: string;
  /** What the call does, in a few words: `Read src/a.ts`. Contains the arguments as they are, of any length. */
  describe(): string;
  confirmation(): Promise<Confirmation>;
  execute(context: ExecuteContext): Promise<ToolReport>;
  /** The same edit with other content, for an approver who modifies it. */
  modified?(edit: ModifiedEdit): Invocation;
}

export interface ModifiedEdit {
  readonly old_content: string;
  readonly new_content: string;
}

export type Built =
  { readonly ok: true; readonly invocation: Invocation } | { readonly ok: false; readonly error: ToolError };

export interface Tool extends ToolDeclaration {
  readonly displayName: string;
  readonly aliases: readonly string[];
  readonly kind: Kind;
  /** What a policy must know about it; nothing is known of external tools. */
  readonly traits?: ToolTraits;
  /** It claims that it only reads, which counts only if the policy trusts it. */
  readonly claimsToRead?: true;
  /** Only its name is known: it cannot be offered, and calling it is an error that says why. */
  readonly unavailable?: true;
  /** Does in advance what the first `build` would otherwise wait for. */
  prepare(): void;
  build(params: unknown): Promise<Built>;
}
