import type { Kind } from './kind.js';

/** What a policy has to know about the calls of a tool. Each tool says it of itself. */
export interface ToolTraits {
  /** Rules can be about the paths of its calls. */
  readonly takesPaths?: true;
  /** The parameter that is a command line, which is judged word by word. */
  readonly commandIn?: string;
  /** The parameter with URLs. The policy must allow each of their hosts. */
  readonly urlsIn?: string;
  /** What it is nothing without: a file that the policy names, or a model that can search the web. */
  readonly needs?: 'memory' | 'web search';
  /** Except in yolo it is offered only if a rule is about it. */
  readonly onlyByRule?: true;
}

/** A tool of ours, as far as policies know it. */
export interface KnownTool extends ToolTraits {
  readonly kind: Kind;
  readonly aliases?: readonly string[];
}
