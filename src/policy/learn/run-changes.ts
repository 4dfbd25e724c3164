import { existsSync } from 'node:fs';
import { isFolder } from '../../lib/folders.js';
import { pathFrom } from '../../lib/real-path.js';
import { resolve } from 'node:path';
import type { ShellScript, SimpleCommand } from '../shell/model.js';
import { runsProject } from './script-changes.js';
import { traitsOf } from '../tool-names.js';
import type { EvidenceRun } from '../../protocol/evidence.js';
import type { CallJudge } from '../replay/judge.js';
import { isForeign } from '../../protocol/source.js';
import { own } from '../../lib/own.js';
import { wordsOf } from '../../lib/text.js';
import { SCRIPT_STARTERS } from './never.js';

/**
 * What a run has changed, relative to its workspace: by its result, and by its calls, since a change may have been
 * undone. Undefined if a call may have changed anything and the result does not say it, or a command has swapped
 * files for other versions.
 */
export async function changesOf(
  run: EvidenceRun,
  judge: Pick<CallJudge, 'asked'>,
): Promise<string[] | undefined> {
  const shell = await import('../shell/index.js');
  const changed = new Set(run.changed ?? []);
  let isOpen = false;
  for (const call of run.calls) {
    if (call.decision !== 'allow' && !call.approved) continue;
    const asked = await judge.asked(call, run);
    isOpen ||= call.redacted || 'notJudged' in asked;
    if ('notJudged' in asked) continue;
    const { paths, isAnything, isSwap = false } = changesBy(asked, shell);
    if (isSwap) return undefined;
    for (const path of paths) changed.add(path);
    isOpen ||= isAnything;
  }
  return run.changed === undefined && isOpen ? undefined : [...changed];
}

type Shell = typeof import('../shell/index.js');
type Asked = Exclude<Awaited<ReturnType<CallJudge['asked']>>, { readonly notJudged: string }>;

/** What one call has changed as far as is known; `isAnything` if it may have changed more. */
function changesBy({ request, place }: Asked, { readScript, lineRisk, writtenBy }: Shell) {
  const from = (path: string) => pathFrom(place.workspace, resolve(place.workspace, path));
  const named = request.paths.filter(({ access }) => access === 'write').map(({ path }) => path);
  const { commandIn } = traitsOf(request.tool);
  if (commandIn === undefined) return { paths: named.map(from), isAnything: isForeign(request.tool) };
  const line = String(request.params[commandIn]);
  const reading = readScript(line, false);
  const directory = resolve(place.workspace, request.paths[0]?.path ?? '.');
  const written = reading.ok ? filesWritten(reading.script, (script) => writtenBy(script, directory)) : [];
  const isProject =
    reading.ok && reading.script.commands.every(({ words }) => runsProject([words[0]?.literal ?? '']));
  const texts = reading.ok
    ? reading.script.commands.map(({ words }) => words.map(({ literal = '' }) => literal))
    : [];
  const manifests = texts.some(editsManifest) ? [resolve(directory, 'package.json')] : [];
  return {
    paths: [...named, ...written, ...manifests].map(from),
    isAnything: !isProject && lineRisk(line) === 'unknown',
    isSwap: texts.some(swapsFiles),
  };
}

const FORMATTERS = new Set(wordsOf('prettier black gofmt ruff eslint'));

/** Without folders, and without operands of a formatter that are no files: it only changes what is there. */
function filesWritten(script: ShellScript, writtenBy: (script: ShellScript) => string[]): string[] {
  const isFormatting = ({ words }: SimpleCommand) =>
    words.slice(0, 2).some(({ literal = '' }) => FORMATTERS.has(literal));
  const left = script.commands.filter((one) => !isFormatting(one));
  const surely = new Set(writtenBy({ ...script, commands: left }));
  return writtenBy(script).filter((path) => !isFolder(path) && (surely.has(path) || existsSync(path)));
}

const SWAPPING = new Set(
  wordsOf('checkout switch restore stash reset apply am merge rebase cherry-pick revert pull read-tree'),
);

/** Whether a command replaces files by other versions, whichever files they are. */
function swapsFiles(words: readonly string[]): boolean {
  if (words.includes('patch') || words.includes('rsync')) return true;
  return words.includes('git') && words.some((word) => SWAPPING.has(word)) && !words.includes('list');
}

const MANIFEST_EDITS = new Set(
  wordsOf('pkg version install i add uninstall remove rm update up init link set-script'),
);

/** `npm pkg set scripts.x=…`, but not `npm install`, which follows the manifest. */
function editsManifest([program = '', command = '', ...rest]: readonly string[]): boolean {
  if (own(SCRIPT_STARTERS, program) === undefined || !MANIFEST_EDITS.has(command)) return false;
  if (command === 'pkg') return rest[0] !== 'get';
  return rest.some((word) => !word.startsWith('-'));
}
