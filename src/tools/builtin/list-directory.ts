import { lstatSync, readdirSync, statSync } from 'node:fs';
import { errorCode } from '../../lib/errors.js';
import { checkUnmoved, pathIn, realPath, shownPath } from '../../lib/real-path.js';
import { count } from '../../lib/text.js';
import { PATTERN_MS, TIME_LIMIT_CODE, withTimeLimit } from '../../lib/time-limit.js';
import type { Tool, ToolReport } from '../../protocol/tool.js';
import { defineTool } from '../define.js';
import { failedReport, fsError } from '../files/fs-error.js';
import { namePatterns } from '../../lib/ignore-file.js';
import { ignoreRules } from '../../lib/ignore-rules.js';
import { calledPath, pathLine } from '../files/shown-path.js';
import type { FindSettings } from './glob.js';

interface Request {
  readonly path: string;
  readonly ignore?: readonly string[];
  readonly respect_git_ignore?: boolean;
}

const NAME = 'list_directory';

export function listDirectoryTool(settings: FindSettings): Tool {
  return defineTool(settings.workspace, {
    name: NAME,
    displayName: 'List directory',
    kind: 'search',
    traits: { takesPaths: true },
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
        respect_git_ignore: {
          type: 'boolean',
          description: 'Leave out what .gitignore names and git does not track (true).',
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
    paths: ({ path }) => [{ path, access: 'read' }],
    describe: ({ path }) => `List ${calledPath(settings.workspace, path)}`,
    confirmation: ({ path }) => ({ type: 'info', description: `List ${path}` }),
    execute: (request, real) => listDirectory(settings, real, request),
  });
}

/** Nobody reads more, and glob finds the others. */
const MAX_SHOWN = 1000;

interface Entry {
  readonly name: string;
  readonly directory: boolean;
  readonly size: number | undefined;
}

function listDirectory(settings: FindSettings, folder: string, request: Request): ToolReport {
  try {
    checkUnmoved(folder);
    const entries = readdirSync(folder).map((name) => entry(settings, folder, name));
    const shown = withTimeLimit(PATTERN_MS, () => unignored(settings, folder, request, entries));
    return { ok: true, content: listingText(shownPath(settings.workspace, folder), entries, shown) };
  } catch (error) {
    if (errorCode(error) === TIME_LIMIT_CODE)
      return failedReport('ls_execution_error', 'The patterns of what to leave out take too long to match.');
    if (errorCode(error) === 'ENOTDIR')
      return failedReport('ls_execution_error', `${request.path} is not a directory.`);
    return { ok: false, error: fsError(error, request.path, 'ls_execution_error') };
  }
}

/** Of a link to what is out of reach, only the name is shown. */
function entry({ admits }: FindSettings, folder: string, name: string): Entry {
  const path = pathIn(folder, name);
  try {
    const own = lstatSync(path);
    const stats = own.isSymbolicLink() && admits(NAME, realPath(path)) ? statSync(path) : own;
    return { name, directory: stats.isDirectory(), size: stats.isFile() ? stats.size : undefined };
  } catch {
    // Gone meanwhile, or a dangling link: only its name is known.
    return { name, directory: false, size: undefined };
  }
}

function unignored(
  { workspace }: FindSettings,
  folder: string,
  { ignore = [], respect_git_ignore }: Request,
  entries: readonly Entry[],
): Entry[] {
  const ignored = ignoreRules(workspace, { git: respect_git_ignore !== false }).at(folder);
  const byCall = namePatterns(ignore);
  return entries.filter(
    ({ name, directory }) => !ignored.ignores(name, directory) && !byCall(name, directory),
  );
}

function listingText(where: string, entries: readonly Entry[], shown: Entry[]): string {
  shown.sort((a, b) => Number(b.directory) - Number(a.directory) || (a.name < b.name ? -1 : 1));
  const left = entries.length - shown.length;
  const lines = shown.slice(0, MAX_SHOWN).map(({ name, directory, size }) => {
    if (directory) return `[DIR] ${pathLine(name)}`;
    return size === undefined ? pathLine(name) : `${pathLine(name)} (${count(size, 'byte')})`;
  });
  const header = shown.length === 0 ? `${pathLine(where)} has no entries to show.` : `${pathLine(where)}:`;
  if (shown.length > MAX_SHOWN) {
    lines.push(`[${shown.length - MAX_SHOWN} more. Find some of them by a pattern with glob.]`);
  }
  if (left > 0) lines.push(`(${left} ignored)`);
  return [header, ...lines].join('\n');
}
