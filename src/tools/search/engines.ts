import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { isInside, realPath } from '../../lib/real-path.js';
import { runProgram, type ProgramEnd } from '../../lib/run-program.js';
import type { SearchPattern } from './pattern.js';

/** Programs that quickly tell which files are worth reading. Without any, JavaScript does it. */
export const ENGINES = ['ripgrep', 'git grep', 'grep', 'javascript'] as const;
export type EngineName = (typeof ENGINES)[number];

export interface EngineRequest {
  /** A real path of a folder. */
  readonly folder: string;
  readonly pattern: SearchPattern;
  /** Names that files must have, if a glob says only that: `*.ts`. */
  readonly names: string | undefined;
  /** Every file that is not ignored, from the folder; called only for programs that cannot find files themselves. */
  readonly listFiles: () => Promise<readonly string[]>;
  readonly signal: AbortSignal;
}

/**
 * Files that may match, from the folder: all that do, and some that do not. Undefined if the engine cannot tell or
 * is missing. No engine decides what matches: one place does, so that all give the same answer.
 */
export type Engine = (request: EngineRequest) => Promise<readonly string[] | undefined>;

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Patterns that find UTF-16 by its byte order mark: programs that compare bytes do not find its text. */
const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];
/** File names in one command line, in characters; all systems take at least this much. */
const MAX_ARGUMENTS = 100_000;

export interface EnginePlace {
  readonly workspace: string;
  readonly path: string;
}

/** The engine of a name. */
export function openEngine(name: EngineName, place: EnginePlace): Engine {
  // Nothing in HOME or in the environment changes what is found.
  const environment = {
    PATH: place.path,
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    // Nor does the repository: its settings can run programs, and it may ignore the whole folder.
    GIT_DIR: '/nonexistent',
  };
  const run = async (
    request: EngineRequest,
    program: string | undefined,
    args: readonly string[],
    input?: Buffer,
  ) => {
    if (program === undefined) return undefined;
    const { folder: directory, signal } = request;
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal };
    return foundNames(
      await runProgram({ file: program, args, directory, environment, ...limits, ...(input && { input }) }),
    );
  };
  switch (name) {
    case 'ripgrep': {
      let program: Promise<string | undefined> | undefined;
      return async (request) => {
        program ??= findRipgrep(place);
        const args = ripgrepArguments(request);
        return args && run(request, await program, args);
      };
    }
    case 'git grep':
      return async (request) => {
        const { literals } = request.pattern;
        if (!literals) return undefined;
        const options = ['grep', '--no-index', '--exclude-standard', '-l', '-z', '-F', '-f', '-'];
        const args = [...options, ...caseOption(request), '--', '.'];
        return run(request, findProgram('git', place), args, byteLines(literals));
      };
    case 'grep':
      return async (request) => {
        const { literals } = request.pattern;
        const program = findProgram('grep', place);
        if (!literals || program === undefined) return undefined;
        const found: string[] = [];
        for (const files of batches(await request.listFiles())) {
          const args = ['-l', '--null', '-s', '-F', '-f', '-', ...caseOption(request), '--', ...files];
          const some = await run(request, program, args, byteLines(literals));
          if (!some) return undefined;
          found.push(...some);
        }
        return found;
      };
    case 'javascript':
      return (request) => request.listFiles();
    default:
      return name satisfies never;
  }
}

function caseOption({ pattern }: EngineRequest): string[] {
  return pattern.ignoreCase ? ['-i'] : [];
}

function byteLines(literals: readonly string[]): Buffer {
  const lines = [...literals.map((literal) => Buffer.from(literal)), ...UTF16_MARKS];
  return Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]));
}

/** Its own ignore rules only save work; ours are applied after it. */
function ripgrepArguments(request: EngineRequest): string[] | undefined {
  const { weakened } = request.pattern;
  if (weakened === undefined) return undefined;
  const ignore = ['--no-ignore-dot', '--no-ignore-exclude', '--no-ignore-global', '--no-ignore-parent'];
  return [
    ...['--no-config', '--no-messages', '-l', '-0', '--hidden', '--no-require-git'],
    ...ignore,
    ...(request.names === undefined ? [] : ['--iglob', request.names]),
    ...['--glob', '!.git', ...caseOption(request), '-e', weakened, '--', '.'],
  ];
}

/** Exit code 1 means nothing found; 2 without a message, that a file could not be read. */
function foundNames(end: ProgramEnd): string[] | undefined {
  if (end.type === 'failed' || end.code > 2 || (end.code === 2 && end.stderr !== '')) return undefined;
  const names = end.stdout.toString('utf8').split('\0').slice(0, -1);
  // A name that is not UTF-8 cannot be opened under its decoded form.
  return names.map((name) => name.replace(/^\.\//, '')).filter((name) => !name.includes('\ufffd'));
}

function* batches(files: readonly string[]): Generator<string[]> {
  let batch: string[] = [];
  let size = 0;
  for (const file of files) {
    if (size + file.length > MAX_ARGUMENTS) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(`./${file}`);
    size += file.length + 3;
  }
  if (batch.length > 0) yield batch;
}

/** Bosun's own ripgrep, else an installed one. */
export async function findRipgrep(place: EnginePlace): Promise<string | undefined> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch {
    return findProgram('rg', place);
  }
}

/** A program by its name; one in the workspace, or that leads there, is not trusted. */
function findProgram(name: string, { path, workspace }: EnginePlace): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find((file) => isExecutable(file) && !isInside(workspace, realPath(file)));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
