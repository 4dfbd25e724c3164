// Written by npm run docs from src/tools/builtin.
import type { KnownTool } from './tool-traits.js';

export const BUILTIN_TOOLS = {
  read_file: { kind: 'read', takesPaths: true, standsFor: 'read' },
  read_many_files: { kind: 'read', takesPaths: true },
  list_directory: { kind: 'search', takesPaths: true },
  glob: { kind: 'search', takesPaths: true },
  search_file_content: { kind: 'search', aliases: ['grep_search'], takesPaths: true },
  write_file: { kind: 'edit', takesPaths: true, standsFor: 'write', textIn: ['content'] },
  replace: { kind: 'edit', takesPaths: true, textIn: ['old_string', 'new_string'] },
  run_shell_command: { kind: 'execute', commandIn: 'command' },
  web_fetch: { kind: 'fetch', urlsIn: 'prompt' },
  google_web_search: { kind: 'fetch', needs: 'web search', onlyByRule: true },
  save_memory: { kind: 'think', needs: 'memory' },
  write_todos: { kind: 'think' },
} as const satisfies Readonly<Record<string, KnownTool>>;
