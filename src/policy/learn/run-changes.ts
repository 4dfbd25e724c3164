import { existsSync } from 'node:fs';
import { isFolder } from '../../lib/folders.js';
import { pathFrom } from '../../lib/real-path.js';
import { basename, resolve } from 'node:path';
import type { SimpleCommand } from '../shell/model.js';
import type { StartedCommand } from '../shell/written-by.js';
import { runsProject } from './script-changes.js';
import { traitsOf } from '../tool-names.js';
import type { EvidenceCall, EvidenceRun } from '../../protocol/evidence.js';
import type { CallJudge } from '../replay/judge.js';
import { isForeign } from '../../protocol/source.js';
import { wordsOf } from '../../lib/text.js';
import { editsManifest } from './never.js';
import { NO_TRACE, together, traceOf, type Trace } from './traces.js';

/** What a run has changed, and what it may have changed besides. */
export interface RunChanges {
  /** Relative to its workspace; undefined if anything may have changed and nothing says what. */
  readonly files: readonly string[] | undefined;
  /** What the calls before each call may have changed in secret. */
  readonly traces: ReadonlyMap<EvidenceCall, Trace>;
}

/**
 * What a run has changed: by its result, and by its calls, since a change may have been undone. Files are unknown if a
 * call may have changed anything and the result does not say it, or a command has swapped files for other versions.
 */
export async function changesOf(run: EvidenceRun, judge: Pick<CallJudge, 'asked'>): Promise<RunChanges> {
  const asked = await askedAbout(run, judge);
  const files = await changedFiles(run, asked);
  return { files, traces: files ? tracesBefore(asked, files) : new Map() };
}

/** Calls that may have run, in order, and what they did: undefined if that is not known. */
type Ran = readonly (readonly [EvidenceCall, Asked | undefined])[];

async function askedAbout(run: EvidenceRun, judge: Pick<CallJudge, 'asked'>): Promise<Ran> {
  const ran: [EvidenceCall, Asked | undefined][] = [];
  for (const call of run.calls) {
    if (call.decision !== 'allow' && !call.approved) continue;
    const asked = call.redacted ? undefined : await judge.asked(call, run);
    ran.push([call, asked && 'notJudged' in asked ? undefined : asked]);
  }
  return ran;
}

async function changedFiles({ changed }: EvidenceRun, ran: Ran): Promise<string[] | undefined> {
  const shell = await import('../shell/index.js');
  const each = ran.map(([, asked]) =>
    asked ? changesBy(asked, shell) : { paths: [], isAnything: true, isSwap: false },
  );
  const isKnown = changed !== undefined || !each.some(({ isAnything }) => isAnything);
  if (!isKnown || each.some(({ isSwap }) => isSwap)) return undefined;
  return [...new Set([...(changed ?? []), ...each.flatMap(({ paths }) => paths)])];
}

function tracesBefore(ran: Ran, files: readonly string[]): Map<EvidenceCall, Trace> {
  const traces = new Map<EvidenceCall, Trace>();
  let before = NO_TRACE;
  for (const [call, asked] of ran) {
    traces.set(call, before);
    before = together([before, asked ? traceOf(asked.request, asked.place, files) : { by: call.tool }]);
  }
  return traces;
}

type Shell = typeof import('../shell/index.js');
type Asked = Exclude<Awaited<ReturnType<CallJudge['asked']>>, { readonly notJudged: string }>;

/** What one call has changed as far as is known; `isAnything` if it may have changed more. */
function changesBy({ request, place }: Asked, shell: Shell) {
  const from = (path: string) => pathFrom(place.workspace, resolve(place.workspace, path));
  const named = request.paths.filter(({ access }) => access === 'write').map(({ path }) => path);
  const { commandIn } = traitsOf(request.tool);
  if (commandIn === undefined)
    return { paths: named.map(from), isAnything: isForeign(request.tool), isSwap: false };
  const line = String(request.params[commandIn]);
  const reading = shell.readScript(line, false);
  const directory = resolve(place.workspace, request.paths[0]?.path ?? '.');
  const started = reading.ok ? shell.startedCommands(reading.script, directory) : [];
  const isProject =
    reading.ok && reading.script.commands.every(({ words }) => runsProject([words[0]?.literal ?? '']));
  const manifests = started
    .filter(({ command }) => editsManifest(textsOf(command)))
    .map((one) => resolve(one.directory, 'package.json'));
  return {
    paths: [...named, ...filesWritten(started, shell.writtenBy), ...manifests].map(from),
    isAnything: !isProject && shell.lineRisk(line) === 'unknown',
    isSwap: started.some(({ command }) => swapsFiles(textsOf(command))),
  };
}

function textsOf({ words }: SimpleCommand): string[] {
  return words.map(({ literal = '' }) => literal);
}

const FORMATTERS = new Set(wordsOf('prettier black gofmt ruff eslint'));

/** Without folders, and without operands of a formatter that are no files: it only changes what is there. */
function filesWritten(started: readonly StartedCommand[], writtenBy: Shell['writtenBy']): string[] {
  return started.flatMap((one) => {
    const isFormatting = textsOf(one.command)
      .slice(0, 2)
      .some((word) => FORMATTERS.has(word));
    return writtenBy(one).filter((path) => !isFolder(path) && (!isFormatting || existsSync(path)));
  });
}

const SWAPPING = new Set(
  wordsOf('checkout switch restore stash reset apply am merge rebase cherry-pick revert pull read-tree'),
);

/** Whether a command replaces files by other versions, whichever files they are. A new branch begins with what is there. */
function swapsFiles(words: readonly string[]): boolean {
  if (/^git (checkout -b|switch -c) [^ ]+$/.test(words.join(' '))) return false;
  const program = basename(words[0] ?? '');
  if (program === 'patch' || program === 'rsync') return true;
  return program === 'git' && words.some((word) => SWAPPING.has(word)) && !words.includes('list');
}
