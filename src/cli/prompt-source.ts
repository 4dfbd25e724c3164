import { configProblem } from '../protocol/problem.js';

/** Where the prompt comes from. */
export type PromptSource =
  | { readonly type: 'text'; readonly text: string; readonly name: string }
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'stdin' }
  | { readonly type: 'recording' };

export interface PromptFlags {
  readonly words: readonly string[];
  readonly prompt?: string;
  readonly promptFile?: string;
  readonly stdin?: string | boolean;
  readonly replay?: string;
}

interface Surroundings {
  readonly stdinIsTerminal: boolean;
  /** Whether a flag was given on the command line, not by a variable. */
  readonly isTyped: (flag: 'prompt' | 'promptFile') => boolean;
}

/** Whether stdin is attached to the prompt. */
export function isAttached(stdin: string | boolean | undefined): boolean {
  return stdin !== undefined && stdin !== false;
}

/** Exactly one source, or an error that names what was given. Arguments go before variables. */
export function promptSource(flags: PromptFlags, { stdinIsTerminal, isTyped }: Surroundings): PromptSource {
  const given: { readonly source: PromptSource; readonly name: string; readonly typed: boolean }[] = [];
  if (flags.words.length > 0) {
    const name = 'the arguments';
    given.push({ source: { type: 'text', text: flags.words.join(' '), name }, name, typed: true });
  }
  if (flags.prompt !== undefined) {
    const name = '--prompt';
    given.push({ source: { type: 'text', text: flags.prompt, name }, name, typed: isTyped('prompt') });
  }
  if (flags.promptFile !== undefined) {
    const source: PromptSource =
      flags.promptFile === '-' ? { type: 'stdin' } : { type: 'file', path: flags.promptFile };
    given.push({ source, name: '--prompt-file', typed: isTyped('promptFile') });
  }
  const typed = given.filter((one) => one.typed);
  const [first, second] = typed.length > 0 ? typed : given;
  if (first && second) {
    throw configProblem('prompt', `the prompt is given twice: by ${first.name} and by ${second.name}`, {
      hint: 'Keep one of them.',
    });
  }
  const source = first?.source ?? unspoken(flags, stdinIsTerminal);
  if (flags.stdin === '') {
    throw configProblem('stdin', 'the label of --stdin is empty', {
      hint: 'Give it a name, or leave the label out.',
    });
  }
  if (source.type === 'stdin' && isAttached(flags.stdin)) {
    throw configProblem('prompt', '--stdin attaches stdin to a prompt, and there is no other prompt', {
      hint: 'Give the prompt with -p or --prompt-file.',
    });
  }
  return source;
}

function unspoken({ replay }: PromptFlags, stdinIsTerminal: boolean): PromptSource {
  if (replay !== undefined) return { type: 'recording' };
  if (!stdinIsTerminal) return { type: 'stdin' };
  throw configProblem('prompt', 'no prompt', {
    hint: "Give one: bosun run -p 'what to do' (or --prompt-file, or through a pipe).",
  });
}
