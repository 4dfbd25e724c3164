import { basename } from 'node:path';
import { closeSync, constants, openSync, statSync } from 'node:fs';
import { errorCode } from '../../lib/errors.js';
import { globMatcher } from '../../lib/glob.js';
import { checkUnmoved, pathFrom, pathIn, shownPath } from '../../lib/real-path.js';
import { eachWithTimeLimit, TIME_LIMIT_CODE } from '../../lib/time-limit.js';
import type { ExecuteContext, Tool, ToolReport } from '../../protocol/tool.js';
import { defineTool } from '../define.js';
import { failedReport, fsError } from '../files/fs-error.js';
import { patternFault } from '../files/glob-pattern.js';
import { hiddenTracked } from '../files/hidden-tracked.js';
import { ignoreRules } from '../../lib/ignore-rules.js';
import { calledPath, placeName } from '../files/shown-path.js';
import { walk } from '../../lib/walk.js';
import { openEngine, ENGINES, type Engine, type EngineName } from '../search/engines.js';
import { compilePattern, type SearchPattern } from '../search/pattern.js';
import { renderMatches } from '../search/render.js';
import { searchFiles } from '../search/search.js';
import type { FindSettings } from './glob.js';

export interface SearchSettings extends FindSettings {
  readonly environment: Readonly<Record<string, string>>;
  /** Which programs to try, in order. */
  readonly searchEngines?: readonly EngineName[];
}

interface Request {
  readonly pattern: string;
  readonly path?: string;
  readonly include?: string;
  readonly case_sensitive?: boolean;
  readonly context?: number;
  readonly max_matches?: number;
}

const NAME = 'search_file_content';
const MAX_MATCHES = 200;

export function searchFileContentTool(settings: SearchSettings): Tool {
  const { workspace, environment, searchEngines = ENGINES } = settings;
  const place = { workspace, path: environment['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' };
  const engines = searchEngines.map((name) => openEngine(name, place));
  return defineTool(workspace, {
    name: NAME,
    displayName: 'Search text',
    kind: 'search',
    traits: { takesPaths: true },
    description:
      'Searches the lines of files for a regular expression (JavaScript syntax). It ignores case unless case_sensitive is set. Binary files, ignored files that git does not track, and .git are left out.',
    aliases: ['grep_search'],
    schema: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          minLength: 1,
          description: 'The regular expression; it is matched line by line.',
        },
        path: { type: 'string', minLength: 1, description: 'A directory or file to search (the workspace).' },
        include: {
          type: 'string',
          minLength: 1,
          description: 'Only files that fit this glob: *.ts, src/**.',
        },
        case_sensitive: { type: 'boolean', description: 'Whether to match case (false).' },
        context: { type: 'integer', minimum: 0, description: 'Lines to show around each match (0).' },
        max_matches: {
          type: 'integer',
          minimum: 1,
          description: `How many matches to show (${MAX_MATCHES}).`,
        },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    check: ({ pattern, include, case_sensitive }) => {
      const compiled = compilePattern(pattern, case_sensitive === true);
      return typeof compiled === 'string' ? compiled : include && patternFault(include);
    },
    paths: ({ path }) => [{ path: path ?? '.', access: 'read' }],
    describe: ({ pattern, path, include }) => {
      const where = [path && calledPath(workspace, path), include].filter(Boolean).join(', ');
      return `Search for "${pattern}"${where && ` in ${where}`}`;
    },
    confirmation: ({ pattern }) => ({ type: 'info', description: `Search files for ${pattern}` }),
    execute: (request, real, context) => search(settings, engines, real, request, context),
  });
}

async function search(
  settings: SearchSettings,
  engines: readonly Engine[],
  target: string,
  request: Request,
  { signal }: ExecuteContext,
): Promise<ToolReport> {
  const { workspace, admits, outputCap } = settings;
  const where = shownPath(workspace, target);
  const pattern = compilePattern(request.pattern, request.case_sensitive === true) as SearchPattern;
  try {
    checkUnmoved(target);
    // What cannot be read has no matches either, but that is not the answer.
    closeSync(openSync(target, constants.O_RDONLY | constants.O_NONBLOCK));
    const files = statSync(target).isDirectory()
      ? await candidatesIn(settings, engines, target, pattern, request, signal)
      : [target];
    const found = await searchFiles(
      files.filter((path) => admits(NAME, path)),
      {
        pattern,
        context: Math.min(request.context ?? 0, 50),
        maxMatches: request.max_matches ?? MAX_MATCHES,
        cap: outputCap,
        signal,
      },
    );
    if (signal.aborted) return failedReport('cancelled', 'Cancelled while it searched.');
    const asked = { pattern: request.pattern, where: placeName(where), include: request.include };
    return {
      ok: true,
      content: renderMatches(found, asked, (path) => shownPath(workspace, path), outputCap),
    };
  } catch (error) {
    if (errorCode(error) === TIME_LIMIT_CODE)
      return failedReport(
        'grep_execution_error',
        `The pattern ${request.pattern} takes too long to match${request.include === undefined ? '' : `, or ${request.include} does`}. Write it without repetitions inside repetitions, or search for a part of it.`,
      );
    return { ok: false, error: fsError(error, where, 'grep_execution_error') };
  }
}

/** The files that may match, by the first engine that can tell, without ignored ones. */
async function candidatesIn(
  { workspace }: SearchSettings,
  engines: readonly Engine[],
  folder: string,
  pattern: SearchPattern,
  { include, case_sensitive }: Request,
  signal: AbortSignal,
): Promise<string[]> {
  const rules = ignoreRules(workspace);
  const here = rules.at(folder);
  const included = includeMatcher(include, case_sensitive !== true);
  const listFiles = async () => {
    const wanted = (path: string) => included(path, shownPath(workspace, pathIn(folder, path)));
    const { files } = await walk({ root: folder, ignored: here, wanted, signal });
    return files.filter(({ isLink }) => !isLink).map(({ path }) => path);
  };
  const names = include && /^\*\.[\w-]+$/.test(include) ? include : undefined;
  // If it is unknown what is part of the repository, programs may not decide what to skip.
  const passedOver = hiddenTracked(folder)?.map((path) => pathFrom(folder, path));
  let found: readonly string[] | undefined;
  for (const engine of passedOver ? engines : [])
    found ??= await engine({ folder, pattern, names, listFiles, signal });
  const candidates = new Set([...(found ?? (await listFiles())), ...(passedOver ?? [])]);
  const kept: string[] = [];
  await eachWithTimeLimit([...candidates], (name) => {
    const path = pathIn(folder, name);
    if (included(name, shownPath(workspace, path)) && !rules.isIgnored(path)) kept.push(path);
  });
  return kept.sort();
}

/** A glob without a slash matches names; with one it starts from the folder, or from the workspace. */
function includeMatcher(include: string | undefined, ignoreCase: boolean) {
  if (include === undefined) return () => true;
  const matches = globMatcher([include], { ignoreCase });
  if (!include.includes('/')) return (path: string) => matches(basename(path));
  return (path: string, shown: string) => matches(path) || matches(shown);
}
