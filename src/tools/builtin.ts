import type { Todo } from '../protocol/todo.js';
import type { Tool } from '../protocol/tool.js';
import { globTool } from './builtin/glob.js';
import { googleWebSearchTool } from './builtin/google-web-search.js';
import { listDirectoryTool } from './builtin/list-directory.js';
import { readFileTool } from './builtin/read-file.js';
import { readManyFilesTool } from './builtin/read-many-files.js';
import { replaceTool } from './builtin/replace.js';
import { runShellCommandTool, type ShellSettings } from './builtin/run-shell-command.js';
import { searchFileContentTool, type SearchSettings } from './builtin/search-file-content.js';
import { saveMemoryTool } from './builtin/save-memory.js';
import { webFetchTool } from './builtin/web-fetch.js';
import { writeFileTool } from './builtin/write-file.js';
import { writeTodosTool } from './builtin/write-todos.js';
import { SeenFiles } from './files/seen.js';
import { NO_WEB, type WebSettings } from './web/settings.js';

export interface BuiltinSettings extends ShellSettings, SearchSettings {
  /** The real path of the file that the policy keeps memories in. */
  readonly memory?: string | undefined;
  /** Gets the plans that the model writes down. */
  readonly onTodos?: (todos: readonly Todo[]) => void;
  /** What may be reached on the web, and how; nothing unless given. */
  readonly web?: WebSettings;
}

/** The tools that come with Bosun. `workspace` is a real path. */
export function builtinTools(settings: BuiltinSettings): Tool[] {
  const { workspace, memory, onTodos = () => {}, web = NO_WEB } = settings;
  const seen = new SeenFiles();
  return [
    readFileTool(workspace, seen),
    readManyFilesTool(settings, seen),
    listDirectoryTool(settings),
    globTool(settings),
    searchFileContentTool(settings),
    writeFileTool(workspace, seen),
    replaceTool(workspace, seen),
    runShellCommandTool(settings),
    webFetchTool(workspace, web),
    googleWebSearchTool(workspace, web),
    saveMemoryTool(workspace, memory, seen),
    writeTodosTool(workspace, onTodos),
  ];
}
