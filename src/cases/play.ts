import { readFileSync, writeFileSync } from 'node:fs';
import type { Variables } from '../lib/redact/secrets.js';
import type { InitEvent, TranscriptLine } from '../protocol/event.js';
import { run } from '../runs/run.js';
import type { RunsUnderWay } from '../runs/under-way.js';
import { lineValidator } from '../transcript/line-validator.js';
import { readTranscript } from '../transcript/reader.js';
import { transcriptFault, type Transcript } from '../protocol/transcript.js';
import { caseProblem, type Case } from './case.js';
import { changesAsPatch } from './changes.js';
import { factsOf, type Facts } from './facts.js';
import { caseGit } from './git.js';
import { movedRecording, renamedTranscript } from './moved.js';
import { initOf, policyOf, recordedAnswers } from './recorded.js';
import { openStage, type Stage } from './stage.js';

export interface PlaySettings {
  /** Takes secrets out of what is shown and kept. */
  readonly redact: (text: string) => string;
  readonly variables: Variables;
  readonly signal: AbortSignal;
  readonly underWay?: RunsUnderWay;
}

/** One case, as it was recorded and as it went now. */
export interface Played {
  readonly recorded: Facts;
  readonly now: Facts;
  /** What a new recording would consist of. */
  readonly transcript: string;
  /** Undefined if it is not known what has changed. */
  readonly patch: string | undefined;
  readonly calls: number;
  readonly durationMs: number;
}

/** Plays the model's part of a recorded run against real tools, in a copy of its workspace. */
export async function playCase(one: Case, settings: PlaySettings): Promise<Played> {
  const started = performance.now();
  const before = await readSound(one.transcript);
  const init = initOf(one, before.lines);
  const stage = await openStage(
    one,
    init.git_head === null ? undefined : caseGit(settings.variables, settings.signal),
  );
  try {
    const transcript = stage.beside('transcript.jsonl');
    await playOn(stage, one, { init, lines: before.lines, transcript }, settings);
    const after = readTranscript(transcript);
    const changed = changesAsPatch(after.result?.changes, one.workspace, stage.workspace);
    const patch = changed === undefined ? undefined : settings.redact(changed);
    const recorded = factsOf(before, (text) => text);
    const now = factsOf(after, (text) => text.replaceAll(stage.workspace, init.cwd));
    return {
      // A list of changes says less than the patch.
      recorded:
        one.patch === undefined
          ? recorded
          : { ...recorded, changes: readFileSync(one.patch, 'utf8').split('\n') },
      now: one.patch === undefined ? now : { ...now, changes: patch?.split('\n') },
      transcript: renamedTranscript(readFileSync(transcript, 'utf8'), [
        [stage.workspace, init.cwd],
        [`${stage.root}/`, ''],
      ]),
      patch,
      calls: after.lines.filter(({ type }) => type === 'tool_use').length,
      durationMs: performance.now() - started,
    };
  } finally {
    stage.remove();
  }
}

/** What was changed by hand is no recording. */
async function readSound(path: string): Promise<Transcript> {
  const transcript = readTranscript(path);
  const fault = transcriptFault(transcript, await lineValidator());
  if (fault) throw caseProblem(`${path} cannot be played: ${fault.why}`, fault.hint);
  return transcript;
}

interface Recording {
  readonly init: InitEvent;
  readonly lines: readonly TranscriptLine[];
  /** Where the new transcript goes. */
  readonly transcript: string;
}

async function playOn(
  { workspace, beside }: Stage,
  one: Case,
  { init, lines, transcript }: Recording,
  { redact: _redact, ...settings }: PlaySettings,
): Promise<void> {
  const approve = recordedAnswers(lines);
  const replay = beside('recording.jsonl');
  writeFileSync(replay, movedRecording(lines, init.cwd, workspace));
  const outputSchema = init.output_schema && beside('schema.json');
  if (outputSchema) writeFileSync(outputSchema, JSON.stringify(init.output_schema));
  await run({
    ...settings,
    ...{ cwd: workspace, transcript, replay },
    effective: await policyOf(one, init, approve),
    readTask: async () => undefined,
    dryRun: init.dry_run ?? false,
    ...(init.sandbox.mode === 'required' && { sandbox: 'required' as const }),
    ...(approve && { approve }),
    ...(outputSchema && { outputSchema }),
  });
}
