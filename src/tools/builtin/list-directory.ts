import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { checkUnmoved } from '../../lib/real-path.js';
import { count } from '../../lib/text.js';
import type { Tool, ToolReport } from '../../protocol/tool.js';
import { defineTool } from '../define.js';
import { fsError } from '../files/fs-error.js';
import { namePatterns } from '../files/ignore-file.js';
import { ignoreRules } from '../files/ignored.js';

interface Request {
  readonly path: string;
  readonly ignore?: readonly string[];
  readonly respect_git_ignore?: boolean;
}

export function listDirectoryTool(workspace: string): Tool {
  return defineTool(workspace, {
    name: 'list_directory',
    displayName: 'List directory',
    kind: 'search',
    description: 'Lists a directory: folders first, then files with their sizes. Hidden entries are shown.',
    schema: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'The directory; "." is the workspace.' },
        ignore: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          description: 'Glob patterns of names to leave out.',
        },
        respect_git_ignore: { type: 'boolean', description: 'Leave out what .gitignore names (true).' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    parameterAliases: { dir_path: 'path' },
    paths: ({ path }) => [{ path, access: 'read' }],
    describe: ({ path }) => `List ${path}`,
    confirmation: ({ path }) => ({ type: 'info', description: `List ${path}` }),
    execute: (request, real) => listDirectory(workspace, real, request),
  });
}

interface Entry {
  readonly name: string;
  readonly directory: boolean;
  readonly size: number | undefined;
}

function listDirectory(workspace: string, folder: string, request: Request): ToolReport {
  let entries: Entry[];
  try {
    checkUnmoved(folder);
    entries = readdirSync(folder).map((name) => entry(folder, name));
  } catch (error) {
    const { type, message } = fsError(error, request.path, 'ls_execution_error');
    const isFile = (error as { code?: string }).code === 'ENOTDIR' && type === 'file_not_found';
    if (!isFile) return { ok: false, error: { type, message } };
    return {
      ok: false,
      error: { type: 'ls_execution_error', message: `${request.path} is not a directory.` },
    };
  }
  const ignored = ignoreRules(workspace, { git: request.respect_git_ignore !== false }).at(folder);
  const byCall = namePatterns(request.ignore ?? []);
  const shown = entries.filter(
    ({ name, directory }) => !ignored.ignores(name, directory) && !byCall(name, directory),
  );
  shown.sort((a, b) => Number(b.directory) - Number(a.directory) || (a.name < b.name ? -1 : 1));

  const where = relative(workspace, folder) || '.';
  const left = entries.length - shown.length;
  const lines = shown.map(({ name, directory, size }) => {
    if (directory) return `[DIR] ${name}`;
    return size === undefined ? name : `${name} (${count(size, 'byte')})`;
  });
  const header = shown.length === 0 ? `${where} has no entries to show.` : `${where}:`;
  if (left > 0) lines.push(`(${left} ignored)`);
  return { ok: true, content: [header, ...lines].join('\n') };
}

function entry(folder: string, name: string): Entry {
  try {
    const stats = statSync(join(folder, name));
    return { name, directory: stats.isDirectory(), size: stats.isFile() ? stats.size : undefined };
  } catch {
    // A link that leads nowhere, or gone meanwhile: its name is all that is known.
    return { name, directory: false, size: undefined };
  }
}
