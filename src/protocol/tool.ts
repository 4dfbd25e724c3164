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
  /** As the call spelt it, relative to the workspace or absolute. */
  readonly path: string;
  readonly access: 'read' | 'write';
  /** Where it really leads, links followed. What is decided about is what is used. */
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

/** Everything a tool may hand back for the model: text, one part, several, media, a ready function response. */
export type ToolContent = string | Part | readonly Part[];

interface ToolReportExtras {
  readonly change?: FileChange;
  readonly process?: ProcessEnd;
  /** Where the whole output is, if `content` is only its head and tail. */
  readonly full_output?: string;
  /** What the tool itself asked of a model. */
  readonly usage?: ModelUsage;
}

/** A tool never throws for what can be expected: a failure is a report like any other. */
export type ToolReport =
  | ({ readonly ok: true; readonly content: ToolContent } & ToolReportExtras)
  | ({ readonly ok: false; readonly error: ToolError } & ToolReportExtras);

/** Collects output of unknown size: a bounded head and tail in memory, all of it on disk once it is long. */
export interface OutputSink {
  /** Returns what of it, or of what came before, may be shown. */
  write(chunk: Uint8Array): Uint8Array;
  /** Ends the output; `text` fits the cap and says what was cut. */
  finish(): {
    readonly text: string;
    readonly bytes: number;
    readonly binary: boolean;
    readonly path: string | undefined;
    /** Where it is stored, and whether all of it, in words. */
    readonly note?: string;
    /** What of it was not shown yet. */
    readonly rest?: Uint8Array;
  };
}

export interface ExecuteContext {
  readonly callId: string;
  readonly signal: AbortSignal;
  readonly onOutput: (chunk: string) => void;
  readonly openOutput: () => OutputSink;
}

/** One validated call, ready to be decided about and run. */
export interface Invocation {
  readonly params: Readonly<Record<string, unknown>>;
  readonly paths: readonly PathUse[];
  /** What the model is told besides the result. */
  readonly note?: string;
  /** What the call does, in a few words: `Read src/a.ts`. Arguments stand in it as they are, of whatever length. */
  describe(): string;
  confirmation(): Promise<Confirmation>;
  execute(context: ExecuteContext): Promise<ToolReport>;
  /** The same edit with another content, for whoever was asked and knows better. */
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
  /** What a policy has to know of it; nothing is known of external tools. */
  readonly traits?: ToolTraits;
  /** It says of itself that it only reads, which counts only where the policy trusts it. */
  readonly claimsToRead?: true;
  /** It is known by its name only: it cannot be offered, and a call of it is an error that says why. */
  readonly unavailable?: true;
  /** Does ahead of time what the first `build` would otherwise wait for. */
  prepare(): void;
  build(params: unknown): Promise<Built>;
}
