/** In the order of the help. */
export const COMMAND_NAMES = [
  'run',
  'resume',
  'approve',
  'policy',
  'batch',
  'worker',
  'publish',
  'report',
  'compare',
  'test',
  'verify',
  'runs',
  'tools',
  'doctor',
  'demo',
  'completion',
  'version',
  'github-action',
] as const;

type CommandName = (typeof COMMAND_NAMES)[number];

/** `run` is loaded with the program; `batch` and what belongs to it, which have the most options, on their own. */
const ON_THEIR_OWN = ['run', 'batch', 'worker', 'publish'] as const;
export type OtherCommandName = Exclude<CommandName, (typeof ON_THEIR_OWN)[number]>;

export function isCommandName(word: string): word is CommandName {
  return (COMMAND_NAMES as readonly string[]).includes(word);
}

export function isOtherCommandName(word: string): word is OtherCommandName {
  return isCommandName(word) && !(ON_THEIR_OWN as readonly string[]).includes(word);
}
