import { lstatSync, statSync } from 'node:fs';
import { errorCode } from '../../lib/errors.js';
import { checkUnmoved, pathIn, realPath, shownPath } from '../../lib/real-path.js';
import { count } from '../../lib/text.js';
import { TIME_LIMIT_CODE } from '../../lib/time-limit.js';
import type { ExecuteContext, Tool, ToolReport } from '../../protocol/tool.js';
import { defineTool } from '../define.js';
import { failedReport, fsError } from '../files/fs-error.js';
import { locatePattern, patternFault, patternMatcher } from '../files/glob-pattern.js';
import { ignoreRules } from '../../lib/ignore-rules.js';
import { calledPath, pathLine, placeName } from '../files/shown-path.js';
import { walk, type Walk, type WalkedFile } from '../../lib/walk.js';

export interface FindSettings {
  readonly workspace: string;
  /** Whether the policy lets a call see a file, by its real path. */
  readonly admits: (tool: string, path: string) => boolean;
  /** The most characters that the model gets. */
  readonly outputCap: number;
}

interface Request {
  readonly pattern: string;
  readonly path?: string;
  readonly case_sensitive?: boolean;
  readonly respect_git_ignore?: boolean;
}

const NAME = 'glob';
const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_SHOWN = 1000;

export function globTool(settings: FindSettings): Tool {
  return defineTool(settings.workspace, {
    name: NAME,
    displayName: 'Find files',
    kind: 'search',
    traits: { takesPaths: true },
    description:
      'Finds files by a glob pattern such as src/**/*.ts. Files changed in the last 24 hours come first, newest first, then the others by name. Ignored files that git does not track and .git are left out.',
    schema: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1, description: 'The glob pattern; **/ means any depth.' },
        path: { type: 'string', minLength: 1, description: 'Where to look (the workspace).' },
        case_sensitive: { type: 'boolean', description: 'Whether to match case (false).' },
        respect_git_ignore: {
          type: 'boolean',
          description: 'Leave out what .gitignore names and git does not track (true).',
        },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    check: ({ pattern }) => patternFault(pattern),
    paths: ({ pattern, path }) => [{ path: locatePattern(pattern, path).folder, access: 'read' }],
    describe: ({ pattern, path }) =>
      `Find files ${pattern}${path ? ` in ${calledPath(settings.workspace, path)}` : ''}`,
    confirmation: ({ pattern }) => ({ type: 'info', description: `Find files named ${pattern}` }),
    execute: (request, real, context) => findFiles(settings, real, request, context),
  });
}

async function findFiles(
  settings: FindSettings,
  folder: string,
  request: Request,
  { signal }: ExecuteContext,
): Promise<ToolReport> {
  const { workspace } = settings;
  const where = shownPath(workspace, folder);
  const { pattern } = locatePattern(request.pattern, request.path);
  const matcher = patternMatcher(pattern, { ignoreCase: request.case_sensitive !== true });
  let found: Walk;
  try {
    checkUnmoved(folder);
    if (!statSync(folder).isDirectory())
      return failedReport('glob_execution_error', `${where} is not a directory.`);
    const ignored = ignoreRules(workspace, { git: request.respect_git_ignore !== false }).at(folder);
    found = await walk({ root: folder, ignored, enter: matcher.enter, wanted: matcher.matches, signal });
  } catch (error) {
    if (errorCode(error) === TIME_LIMIT_CODE)
      return failedReport(
        'glob_execution_error',
        `${request.pattern} takes too long to match. Use a simpler pattern.`,
      );
    return { ok: false, error: fsError(error, where, 'glob_execution_error') };
  }
  if (signal.aborted) return failedReport('cancelled', 'Cancelled while it searched.');
  const files = sortByAge(withTimes(settings, folder, found.files));
  return { ok: true, content: foundText(settings, where, request, files, found.unreadable) };
}

interface TimedFile {
  readonly shown: string;
  readonly changed: number;
}

/** Files with their times, without those that the policy hides, that are gone, and links to what is not a file. */
function withTimes(settings: FindSettings, folder: string, files: readonly WalkedFile[]): TimedFile[] {
  const where = shownPath(settings.workspace, folder);
  const prefix = where === '.' ? '' : `${where}/`;
  const timed: TimedFile[] = [];
  for (const { path, isLink } of files) {
    const whole = pathIn(folder, path);
    try {
      if (!settings.admits(NAME, isLink ? realPath(whole) : whole)) continue;
      const stats = isLink ? statSync(whole) : lstatSync(whole);
      if (stats.isFile()) timed.push({ shown: prefix + path, changed: stats.mtimeMs });
    } catch {
      // Gone meanwhile, or a dangling link.
    }
  }
  return timed;
}

function sortByAge(files: TimedFile[]): TimedFile[] {
  const yesterday = Date.now() - DAY_MS;
  const age = ({ changed }: TimedFile) => (changed > yesterday ? changed : 0);
  return files.sort((a, b) => age(b) - age(a) || (a.shown < b.shown ? -1 : 1));
}

function foundText(
  { outputCap }: FindSettings,
  where: string,
  { pattern, respect_git_ignore }: Request,
  files: readonly TimedFile[],
  unreadable: number,
): string {
  const notes: string[] = [];
  if (unreadable > 0) notes.push(`[${count(unreadable, 'folder')} could not be read.]`);
  if (files.length === 0) {
    const ignored = respect_git_ignore === false ? '' : ' Ignored files were left out.';
    return [`No files match ${pattern} in ${placeName(where)}.${ignored}`, ...notes].join('\n');
  }
  const lines: string[] = [];
  let room = outputCap - 500;
  for (const { shown } of files) {
    const line = pathLine(shown);
    room -= line.length + 1;
    if (lines.length === MAX_SHOWN || room < 0) break;
    lines.push(line);
  }
  const rest = files.length - lines.length;
  if (rest > 0) notes.push(`[${rest} more. Narrow the pattern or the path to see them.]`);
  const match = files.length === 1 ? '1 file matches' : `${files.length} files match`;
  return [`${match} ${pattern} in ${placeName(where)}:`, ...lines, ...notes].join('\n');
}
