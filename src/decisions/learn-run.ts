import { evidenceOf } from '../transcript/evidence-of.js';
import { errorMessage, plainReason } from '../lib/errors.js';
import { LateFile } from '../lib/late-file.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { learnPolicy } from '../policy/learn/learn-policy.js';
import { checkOutput } from '../policy/learn/output.js';
import { taintOf } from '../policy/learn/usable-runs.js';
import { ruleTexts } from '../policy/learn/write.js';
import type { ResultEvent } from '../protocol/event.js';
import type { Status } from '../protocol/outcome.js';
import { configProblem } from '../protocol/problem.js';
import { readTranscript } from '../transcript/reader.js';
import { learnSettings } from './learn-request.js';
import type { Variables } from '../lib/redact/secrets.js';
import { writeNamedFile } from './write-named-file.js';

export interface RunLesson {
  readonly file: string;
  readonly transcript: string;
  readonly effective: EffectivePolicy;
  readonly cwd: string;
  readonly variables: Variables;
  readonly status: Status;
  readonly changes: ResultEvent['changes'];
  readonly redactor: Redactor;
  readonly warn: (message: string) => void;
}

/** Throws before the run begins if the learned policy could not be written at the end. */
export function checkLearnFile(file: string): void {
  checkOutput(file, '/');
  try {
    void new LateFile(file);
  } catch (error) {
    throw configProblem('learn', `--learn ${file} cannot be written: ${plainReason(error)}`);
  }
}

/** Writes the policy that a completed run needed. Any error is a warning: the run is over. */
export async function learnFromRun(lesson: RunLesson): Promise<ResultEvent['learnt']> {
  const { file, transcript, effective, cwd, variables, status, changes, redactor, warn } = lesson;
  try {
    const run = {
      ...evidenceOf(readTranscript(transcript)),
      changed: changes?.map(({ path }) => path),
    };
    const why = status === 'completed' ? taintOf(run) : `it ended as ${status}`;
    if (why !== undefined) {
      warn(`nothing was learnt (--learn ${file}): ${why}`);
      return undefined;
    }
    const sources = effective.ruleSets.map((set) => set.sources[0]?.file ?? `the mode ${set.mode}`);
    const { text, lessons } = await learnPolicy([run], effective, {
      ...learnSettings({
        variables,
        home: variables['HOME'],
        searchPath: variables['PATH'],
        cwd,
        fallback: cwd,
      }),
      ...{ file, minRuns: 1, leftOut: [] },
      ceilingName: sources.join(', '),
    });
    // What is carried over from a policy has not been through a transcript.
    writeNamedFile(file, redactor.text(text));
    const items = await ruleTexts(lessons.rules);
    return { file, rules: items.length === 0 ? '' : `rules:\n${items.join('\n')}\n` };
  } catch (error) {
    warn(`nothing was learnt (--learn ${file}): ${errorMessage(error)}`);
    return undefined;
  }
}
