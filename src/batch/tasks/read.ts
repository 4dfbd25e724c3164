import { extname } from 'node:path';
import { errorMessage } from '../../lib/errors.js';
import { globMatcher } from '../../lib/glob.js';
import { runProgram } from '../../lib/run-program.js';
import { MAX_INPUT_BYTES } from '../../protocol/task.js';
import { cancelProblem } from '../halt.js';
import { readInputFile } from '../../runs/input.js';
import type { BatchSpec, TaskSource } from '../spec.js';
import { readJsonl } from './jsonl.js';
import { rowOf, type Row } from './row.js';

/** What reading tasks needs from outside. */
export interface Sources {
  /** Paths of all files of the workspace, with `/`. */
  readonly listFiles: () => Promise<readonly string[]>;
  readonly readStdin: () => Promise<Buffer>;
  /** The workspace, and what a program sees there. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const COMMAND_MS = 10 * 60_000;
const FIRST_BYTE_MS = 30_000;

/** All tasks of a source, in order. No tasks at all is an error. */
export async function readRows(spec: BatchSpec, sources: Sources): Promise<Row[]> {
  const rows = await taskRows(spec.source, spec, sources);
  if (rows.length === 0) throw spec.fault(['tasks'], `there are no tasks: ${emptiness(spec.source)}`);
  return rows;
}

async function taskRows(source: TaskSource, spec: BatchSpec, sources: Sources): Promise<Row[]> {
  switch (source.type) {
    case 'glob':
      return globRows(source, await sources.listFiles());
    case 'file':
      return readTaskFile(source.path, spec);
    case 'stdin':
      return readJsonl(await sources.readStdin(), 'stdin');
    case 'list':
      return source.rows.map((value, i) => {
        const fault = (message: string) => spec.fault(['tasks', 'list', i], message);
        return rowOf(value, fault('').message.replace(/: $/, ''), fault);
      });
    case 'command':
      return commandRows(source.command, spec, sources);
    case 'repositories':
      return source.rows.map((row, i) => ({
        values: { ...row, ref: row.ref ?? 'HEAD' },
        place: spec.fault(['tasks', 'repositories', i], '').message.replace(/: $/, ''),
      }));
    default:
      return source satisfies never;
  }
}

function globRows(source: Extract<TaskSource, { type: 'glob' }>, paths: readonly string[]): Row[] {
  const isMeant = globMatcher(source.include);
  const isOut = globMatcher(source.exclude);
  const found = paths.filter((path) => isMeant(path) && !isOut(path)).toSorted(byBytes);
  if (source.chunk === 1) return found.map((file) => ({ values: { file }, id: file, place: file }));
  const chunks = Math.ceil(found.length / source.chunk);
  return Array.from({ length: chunks }, (_, i) => {
    const files = found.slice(i * source.chunk, (i + 1) * source.chunk);
    return { values: { files }, place: `the files from ${files[0]} on` };
  });
}

/** The same order everywhere, whatever the locale. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

async function readTaskFile(path: string, { fault }: BatchSpec): Promise<Row[]> {
  const kind = extname(path).toLowerCase();
  if (!['.jsonl', '.csv', '.yaml', '.yml'].includes(kind))
    throw fault(['tasks', 'file'], `${path} is not a file of tasks`, 'Give a .jsonl, .csv or .yaml file.');
  const bytes = await readInputFile(path, FIRST_BYTE_MS).catch((error: unknown) => {
    throw fault(['tasks', 'file'], errorMessage(error));
  });
  if (kind === '.jsonl') return readJsonl(bytes, path);
  if (kind === '.csv') return (await import('./csv.js')).readCsv(bytes, path);
  return (await import('./yaml.js')).readYaml(bytes, path);
}

async function commandRows(
  command: readonly string[],
  spec: BatchSpec,
  { directory, environment, signal }: Sources,
): Promise<Row[]> {
  const [file = '', ...args] = command;
  const name = command.join(' ');
  const fault = (why: string) =>
    spec.fault(['tasks', 'command'], `the tasks command \`${name}\` failed: ${why}`);
  const end = await runProgram({
    ...{ file, args, directory, environment, signal },
    timeoutMs: COMMAND_MS,
    maxBytes: MAX_INPUT_BYTES,
  }).catch((error: unknown) => ({ type: 'failed' as const, message: errorMessage(error) }));
  if (signal.aborted) throw cancelProblem(signal.reason);
  if (end.type === 'failed') throw fault(end.message);
  if (end.code !== 0) {
    const said = end.stderr.trim().split('\n').at(-1);
    throw fault(`exit code ${end.code}${said ? `: ${said}` : ''}`);
  }
  return readJsonl(end.stdout, `output of ${name}`);
}

function emptiness(source: TaskSource): string {
  switch (source.type) {
    case 'glob':
      return `no file of the workspace matches ${source.include.join(', ')}`;
    case 'file':
      return `${source.path} is empty`;
    case 'stdin':
      return 'stdin was empty';
    case 'command':
      return `\`${source.command.join(' ')}\` printed nothing`;
    case 'list':
    case 'repositories':
      return 'the list is empty';
    default:
      return source satisfies never;
  }
}
