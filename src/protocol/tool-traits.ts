import type { Kind } from './kind.js';

/** What a policy must know about a tool's calls. Each tool declares it. */
export interface ToolTraits {
  /** Rules can name paths for its calls. */
  readonly takesPaths?: true;
  /** It stands for all access of this kind to files: a redirection in a command line is decided like a call of it. */
  readonly standsFor?: 'read' | 'write';
  /** Parameters with the text of a file, on which no decision depends. */
  readonly textIn?: readonly string[];
  /** The parameter that is a command line, which is judged word by word. */
  readonly commandIn?: string;
  /** The parameter with URLs. The policy must allow each of their hosts. */
  readonly urlsIn?: string;
  /** What it cannot work without: a file that the policy names, or a model that can search the web. */
  readonly needs?: 'memory' | 'web search';
  /** Except in yolo it is offered only if a rule names it. */
  readonly onlyByRule?: true;
}

/** A built-in tool, as far as policies know it. */
export interface KnownTool extends ToolTraits {
  readonly kind: Kind;
  readonly aliases?: readonly string[];
}
