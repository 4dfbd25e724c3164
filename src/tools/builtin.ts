import type { Tool } from '../protocol/tool.js';
import { listDirectoryTool } from './builtin/list-directory.js';
import { readFileTool } from './builtin/read-file.js';
import { replaceTool } from './builtin/replace.js';
import { runShellCommandTool, type ShellSettings } from './builtin/run-shell-command.js';
import { writeFileTool } from './builtin/write-file.js';
import { SeenFiles } from './files/seen.js';

/** The tools that come with Bosun. `shell.workspace` is a real path. */
export function builtinTools(shell: ShellSettings): Tool[] {
  const { workspace } = shell;
  const seen = new SeenFiles();
  return [
    readFileTool(workspace, seen),
    listDirectoryTool(workspace),
    writeFileTool(workspace, seen),
    replaceTool(workspace, seen),
    runShellCommandTool(shell),
  ];
}
