import type { Tool } from '../protocol/tool.js';
import { globTool } from './builtin/glob.js';
import { listDirectoryTool } from './builtin/list-directory.js';
import { readFileTool } from './builtin/read-file.js';
import { readManyFilesTool } from './builtin/read-many-files.js';
import { replaceTool } from './builtin/replace.js';
import { runShellCommandTool, type ShellSettings } from './builtin/run-shell-command.js';
import { searchFileContentTool, type SearchSettings } from './builtin/search-file-content.js';
import { writeFileTool } from './builtin/write-file.js';

export interface BuiltinSettings extends ShellSettings, SearchSettings {}

/** The tools that come with Bosun. `workspace` is a real path. */
export function builtinTools(settings: BuiltinSettings): Tool[] {
  const { workspace } = settings;
  return [
    readFileTool(workspace),
    readManyFilesTool(settings),
    listDirectoryTool(workspace),
    globTool(settings),
    searchFileContentTool(settings),
    writeFileTool(workspace),
    replaceTool(workspace),
    runShellCommandTool(settings),
  ];
}
