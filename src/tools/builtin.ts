import type { Tool } from '../protocol/tool.js';
import { googleWebSearchTool } from './builtin/google-web-search.js';
import { listDirectoryTool } from './builtin/list-directory.js';
import { readFileTool } from './builtin/read-file.js';
import { replaceTool } from './builtin/replace.js';
import { runShellCommandTool, type ShellSettings } from './builtin/run-shell-command.js';
import { webFetchTool } from './builtin/web-fetch.js';
import { writeFileTool } from './builtin/write-file.js';
import { NO_WEB, type WebSettings } from './web/settings.js';

/** The tools that come with Bosun. `shell.workspace` is a real path. */
export function builtinTools(shell: ShellSettings, web: WebSettings = NO_WEB): Tool[] {
  const { workspace } = shell;
  return [
    readFileTool(workspace),
    listDirectoryTool(workspace),
    writeFileTool(workspace),
    replaceTool(workspace),
    runShellCommandTool(shell),
    webFetchTool(workspace, web),
    googleWebSearchTool(workspace, web),
  ];
}
