import { nameMatcher } from '../lib/glob.js';

/** Every tool of the contract, also those that come later, with its kind of arguments. */
const TOOLS: Readonly<
  Record<string, { readonly aliases?: readonly string[]; readonly takes: 'path' | 'command' | 'none' }>
> = {
  read_file: { takes: 'path' },
  read_many_files: { takes: 'path' },
  list_directory: { takes: 'path' },
  glob: { takes: 'path' },
  search_file_content: { aliases: ['grep_search'], takes: 'path' },
  write_file: { takes: 'path' },
  replace: { takes: 'path' },
  run_shell_command: { takes: 'command' },
  web_fetch: { takes: 'none' },
  google_web_search: { takes: 'none' },
  save_memory: { takes: 'none' },
  write_todos: { takes: 'none' },
};

const REAL_NAMES = new Map(
  Object.entries(TOOLS).flatMap(([name, { aliases = [] }]) =>
    [name, ...aliases].map((word) => [word, name] as const),
  ),
);

export const TOOL_NAMES: readonly string[] = [...REAL_NAMES.keys()];

/** The tools that a pattern means, by their real names; none if it means nothing. */
export function toolsMeant(pattern: string): string[] {
  const matches = nameMatcher(pattern);
  const found = [...REAL_NAMES].filter(([word]) => matches(word)).map(([, name]) => name);
  return [...new Set(found)];
}

export function takes(tool: string): 'path' | 'command' | 'none' {
  return TOOLS[tool]?.takes ?? 'none';
}
