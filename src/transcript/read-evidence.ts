import { evidenceOf } from './evidence-of.js';
import { errorMessage } from '../lib/errors.js';
import type { EvidenceRun } from '../protocol/evidence.js';
import { configProblem } from '../protocol/problem.js';
import { transcriptFault, type Vouched } from '../protocol/transcript.js';
import { lineValidator } from './line-validator.js';
import { readTranscript } from './reader.js';
import { findTranscripts } from './find.js';

/** A transcript that cannot be used, and why. */
export interface UnusableTranscript {
  readonly path: string;
  readonly why: string;
}

export interface ReadEvidence {
  readonly runs: readonly EvidenceRun[];
  readonly unusable: readonly UnusableTranscript[];
}

/** Reads runs from transcripts and folders of them. Of several copies only the most complete one counts. */
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
      const fault = transcriptFault(transcript, faultsOf);
      if (fault) throw configProblem('transcript', fault.why);
      if (transcript.torn) throw configProblem('transcript', 'its last line is cut off');
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
