import { errorCode } from '../../lib/errors.js';
import { TIME_LIMIT_CODE } from '../../lib/time-limit.js';
import type { ExecuteContext, Tool, ToolReport } from '../../protocol/tool.js';
import { defineTool } from '../define.js';
import { bundleFiles } from '../files/bundle.js';
import { failedReport, fsError } from '../files/fs-error.js';
import { patternFault } from '../files/glob-pattern.js';
import { expandIncludes, includedPlace, type Included } from '../files/include.js';
import { SeenFiles } from '../files/seen.js';
import { calledPath, someOf } from '../files/shown-path.js';
import type { FindSettings } from './glob.js';

interface Request {
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  readonly recursive?: boolean;
  readonly respect_git_ignore?: boolean;
}

const NAME = 'read_many_files';

export function readManyFilesTool(settings: FindSettings, seen = new SeenFiles()): Tool {
  return defineTool(settings.workspace, {
    name: NAME,
    displayName: 'Read many files',
    kind: 'read',
    traits: { takesPaths: true },
    description:
      'Reads several files in one call, each under a header with its name: paths, folders and globs. What does not fit is listed. Ignored files are left out unless git tracks them or they are named.',
    schema: {
      type: 'object',
      properties: {
        include: {
          type: 'array',
          minItems: 1,
          items: { type: 'string', minLength: 1 },
          description: 'Paths, folders or globs, from the workspace.',
        },
        exclude: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          description: 'Patterns of what to leave out, as in .gitignore.',
        },
        recursive: { type: 'boolean', description: 'Whether folders and ** include subfolders (true).' },
        respect_git_ignore: {
          type: 'boolean',
          description: 'Leave out what .gitignore names and git does not track (true).',
        },
      },
      required: ['include'],
      additionalProperties: false,
    },
    check: ({ include }) => include.map(patternFault).find((fault) => fault !== undefined),
    paths: ({ include }) =>
      include.map((path) => ({ path: includedPlace(settings.workspace, path), access: 'read' as const })),
    describe: ({ include }) => `Read ${someOf(include.map((path) => calledPath(settings.workspace, path)))}`,
    confirmation: ({ include }) => ({ type: 'info', description: `Read ${include.join(', ')}` }),
    execute: (request, _real, context) => readManyFiles(settings, seen, request, context),
  });
}

async function readManyFiles(
  { workspace, admits, outputCap }: FindSettings,
  seen: SeenFiles,
  request: Request,
  { signal }: ExecuteContext,
): Promise<ToolReport> {
  const { include, exclude = [], recursive = true, respect_git_ignore: respectGitIgnore = true } = request;
  const wanted = include.join(', ');
  let found: Included;
  try {
    const allowed = (path: string) => admits(NAME, path);
    const what = { workspace, include, exclude, recursive, respectGitIgnore };
    found = await expandIncludes({ ...what, admits: allowed, signal });
  } catch (error) {
    if (errorCode(error) === TIME_LIMIT_CODE)
      return failedReport('read_content_failure', `${wanted} takes too long to match. Use simpler patterns.`);
    return { ok: false, error: fsError(error, wanted, 'read_content_failure') };
  }
  if (signal.aborted) return failedReport('cancelled', 'Cancelled while it searched.');
  const { files, missing } = found;
  const nothing = missing.length > 0 ? `There is no ${missing.join(', ')}. ` : '';
  if (files.length === 0 && missing.length === include.length)
    return failedReport('file_not_found', nothing.trim());
  if (files.length === 0) {
    const ignored = respectGitIgnore ? ' Ignored files were left out.' : '';
    return { ok: true, content: `${nothing}No files match ${wanted}.${ignored}` };
  }
  const [text, ...media] = await bundleFiles(files, seen, outputCap, signal);
  if (signal.aborted) return failedReport('cancelled', 'Cancelled while it read.');
  return { ok: true, content: [{ text: `${nothing && `[${nothing.trim()}]\n`}${text?.text}` }, ...media] };
}
