import { statSync } from 'node:fs';
import { attempt } from '../lib/attempt.js';
import { pathFrom } from '../lib/real-path.js';
import { resolve } from 'node:path';
import { runsProject } from '../policy/learn/script-changes.js';
import { traitsOf } from '../policy/tool-names.js';
import type { EvidenceRun } from '../protocol/evidence.js';
import type { CallJudge } from './judge-calls.js';

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
  const { readScript, lineRisk, writtenBy } = await import('../policy/shell/index.js');
  const changed = new Set(run.changed ?? []);
  let isOpen = false;
  for (const call of run.calls) {
    if (call.redacted) isOpen = true;
    if (call.redacted || (call.decision !== 'allow' && !call.approved)) continue;
    const asked = await judge.asked(call, run);
    if ('notJudged' in asked) continue;
    const { request, place } = asked;
    const own = (path: string) => pathFrom(place.workspace, resolve(place.workspace, path));
    for (const { path, access } of request.paths) if (access === 'write') changed.add(own(path));
    const { commandIn } = traitsOf(request.tool);
    if (commandIn === undefined) continue;
    const line = String(request.params[commandIn]);
    const reading = readScript(line, false);
    const directory = resolve(place.workspace, request.paths[0]?.path ?? '.');
    // A folder that a formatter is given is not changed itself.
    const written = reading.ok ? writtenBy(reading.script, directory).filter((path) => !isFolder(path)) : [];
    for (const path of written) changed.add(own(path));
    const isProject =
      reading.ok && reading.script.commands.every(({ words }) => runsProject([words[0]?.literal ?? '']));
    if (!isProject && lineRisk(line) === 'unknown') isOpen = true;
  }
  return run.changed === undefined && isOpen ? undefined : [...changed];
}
