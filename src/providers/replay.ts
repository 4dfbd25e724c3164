import type { CompressionEvent, TurnEvent } from '../protocol/event.js';
import type { ModelFailure, ModelReply, ModelRequest, Provider } from '../protocol/provider.js';
import { recordedEnd } from './finish.js';

/** What was already said of a recording. */
export interface Said {
  readonly turns: number;
  readonly summaries: number;
}

/** Repeats what a model said in an earlier run. Needs no key and no network. */
export function createReplayProvider(
  turns: readonly TurnEvent[],
  model: string,
  summaries: readonly CompressionEvent[] = [],
  said: Said = { turns: 0, summaries: 0 },
): Provider {
  let next = said.turns;
  let nextSummary = said.summaries;

  async function send({ purpose }: ModelRequest): Promise<ModelReply | ModelFailure> {
    if (purpose === 'summary') return summaryReply(summaries[nextSummary++]);
    const turn = turns[next++];
    if (!turn) {
      return {
        type: 'failure',
        class: 'recording',
        retryable: false,
        message: `the recording has only ${turns.length} turns, and the run needed more`,
        hint: 'The run differs from the recorded one; compare their transcripts.',
      };
    }
    const { content, finish_reason, usage } = turn;
    return {
      type: 'reply',
      content,
      end: recordedEnd(finish_reason),
      finishReason: finish_reason,
      model: turn.model,
      ...(usage && { usage }),
    };
  }

  return { name: 'replay', model, auth: 'none', send, close: () => {} };
}

function summaryReply(recorded: CompressionEvent | undefined): ModelReply | ModelFailure {
  if (recorded?.summary === undefined)
    return { type: 'failure', class: 'recording', retryable: false, message: 'no summary was recorded here' };
  const content = { role: 'model', parts: [{ text: recorded.summary }] } as const;
  const { model, usage } = recorded;
  return { type: 'reply', content, end: 'stop', finishReason: 'STOP', model, ...(usage && { usage }) };
}
