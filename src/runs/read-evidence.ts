import { evidenceOf } from '../evidence/evidence-of.js';
import { errorMessage } from '../lib/errors.js';
import type { EvidenceRun } from '../protocol/evidence.js';
import { SCHEMA_VERSION } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import type { Transcript } from '../protocol/transcript.js';
import { lineValidator } from '../transcript/line-validator.js';
import { readTranscript } from '../transcript/reader.js';
import { findTranscripts } from './find-transcripts.js';

/** A transcript that cannot be used, and why. */
export interface UnusableTranscript {
  readonly path: string;
  readonly why: string;
}

export interface ReadEvidence {
  readonly runs: readonly EvidenceRun[];
  readonly unusable: readonly UnusableTranscript[];
}

/** What of a transcript may be relied on, given that it is sound: all of it, unless somebody says otherwise. */
export type Vouched = (transcript: Transcript) => Transcript | { readonly why: string };

/** Reads runs from transcripts and folders of them. The copies of a run count once: the one that tells most. */
export async function readEvidence(
  paths: readonly string[],
  vouched: Vouched = (transcript) => transcript,
): Promise<ReadEvidence> {
  const faultsOf = await lineValidator();
  const runs = new Map<string, { readonly run: EvidenceRun; readonly lines: number }>();
  const unusable: UnusableTranscript[] = [];
  for (const path of findTranscripts(paths)) {
    try {
      const transcript = readTranscript(path);
      const why = faultOf(transcript, faultsOf);
      if (why !== undefined) throw configProblem('transcript', why);
      const counts = vouched(transcript);
      if ('why' in counts) throw configProblem('transcript', counts.why);
      const run = evidenceOf(counts);
      const known = runs.get(run.session);
      if (!known || known.lines < counts.lines.length)
        runs.set(run.session, { run, lines: counts.lines.length });
    } catch (error) {
      unusable.push({ path, why: errorMessage(error).replace(`${path}: `, '') });
    }
  }
  return { runs: [...runs.values()].map(({ run }) => run), unusable };
}

/** Why a transcript is not what its writer wrote. */
function faultOf(
  { lines, brokenAt }: Transcript,
  faultsOf: (line: unknown) => readonly unknown[],
): string | undefined {
  if (brokenAt !== undefined) return `it was changed: its hash chain breaks at line ${brokenAt}`;
  const newer = lines.find(({ v }) => v > SCHEMA_VERSION);
  if (newer) return `it is of version ${newer.v}, and this Bosun knows ${SCHEMA_VERSION}`;
  if (lines.some(({ session_id }) => session_id !== lines[0]?.session_id))
    return 'it holds lines of different runs';
  for (const [i, line] of lines.entries()) {
    const [fault] = faultsOf(line);
    if (fault !== undefined) return `line ${i + 1} is not valid: ${String(fault)}`;
  }
  return undefined;
}
