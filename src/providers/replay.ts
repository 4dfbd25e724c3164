import type { TurnEvent } from '../protocol/event.js';
import type { ModelFailure, ModelReply, Provider } from '../protocol/provider.js';
import { recordedEnd } from './finish.js';

/** Says again what a model said in an earlier run, but for the first `said` turns. No key, no network. */
export function createReplayProvider(turns: readonly TurnEvent[], model: string, said = 0): Provider {
  let next = said;

  async function send(): Promise<ModelReply | ModelFailure> {
    const turn = turns[next++];
    if (!turn) {
      return {
        type: 'failure',
        class: 'recording',
        retryable: false,
        message: `the recording has only ${turns.length} turns, and the run went on`,
        hint: 'The run took another course than the recorded one; compare their transcripts.',
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
