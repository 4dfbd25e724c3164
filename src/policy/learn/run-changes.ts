import { statSync } from 'node:fs';
import { attempt } from '../../lib/attempt.js';
import { pathFrom } from '../../lib/real-path.js';
import { resolve } from 'node:path';
import { runsProject } from './script-changes.js';
import { traitsOf } from '../tool-names.js';
import type { EvidenceRun } from '../../protocol/evidence.js';
import type { CallJudge } from '../replay/judge.js';

function isFolder(path: string): boolean {
  return attempt(() => statSync(path, { throwIfNoEntry: false })?.isDirectory()) ?? false;
}

/**
 * What a run has changed, from its workspace: what its result says, and what its calls show, since a change may have
 * been taken back. Undefined if the result does not say it and a call may have changed anything.
 */
export async function changesOf(
  run: EvidenceRun,
  judge: Pick<CallJudge, 'asked'>,
): Promise<string[] | undefined> {
  const shell = await import('../shell/index.js');
  const changed = new Set(run.changed ?? []);
  let isOpen = false;
  for (const call of run.calls) {
    if (call.redacted) isOpen = true;
    if (call.redacted || (call.decision !== 'allow' && !call.approved)) continue;
    const asked = await judge.asked(call, run);
    if ('notJudged' in asked) continue;
    const { paths, isAnything } = changesBy(asked, shell);
    for (const path of paths) changed.add(path);
    isOpen ||= isAnything;
  }
  return run.changed === undefined && isOpen ? undefined : [...changed];
}

type Shell = typeof import('../shell/index.js');
type Asked = Exclude<Awaited<ReturnType<CallJudge['asked']>>, { readonly notJudged: string }>;

/** What one call has changed as far as that can be told; `isAnything` if it may have changed more. */
function changesBy({ request, place }: Asked, { readScript, lineRisk, writtenBy }: Shell) {
  const own = (path: string) => pathFrom(place.workspace, resolve(place.workspace, path));
  const named = request.paths.filter(({ access }) => access === 'write').map(({ path }) => path);
  const { commandIn } = traitsOf(request.tool);
  if (commandIn === undefined) return { paths: named.map(own), isAnything: false };
  const line = String(request.params[commandIn]);
  const reading = readScript(line, false);
  const directory = resolve(place.workspace, request.paths[0]?.path ?? '.');
  // A folder that a formatter is given is not changed itself.
  const written = reading.ok ? writtenBy(reading.script, directory).filter((path) => !isFolder(path)) : [];
  const isProject =
    reading.ok && reading.script.commands.every(({ words }) => runsProject([words[0]?.literal ?? '']));
  return {
    paths: [...named, ...written].map(own),
    isAnything: !isProject && lineRisk(line) === 'unknown',
  };
}
