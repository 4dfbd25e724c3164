import type { InitEvent } from '../protocol/event.js';
import { withDefaults, type PolicyDocument } from './document.js';
import { fold, limitsSaid, withLimits, type EffectivePolicy, type PolicyFlags } from './fold.js';
import { loadPolicies } from './load.js';
import { withCallback } from './on-ask.js';

export interface PlayedPolicy {
  /** A policy file that decides instead of the recorded policies. */
  readonly file: string | undefined;
  /** Whether calls that need approval get the recorded answers. */
  readonly isAnswered: boolean;
}

/** The policy under which a recorded run is played again: as it applied to the run, flags included, or another one. */
export async function policyToPlay(
  init: InitEvent,
  { file, isAnswered }: PlayedPolicy,
): Promise<EffectivePolicy> {
  const recorded = init.effective_policy.map(withDefaults);
  const flags = flagsOf(init, recorded);
  if (file !== undefined) {
    const documents = await loadPolicies({ policies: [file], mode: undefined, folder: '/' });
    return fold(answered(documents, isAnswered), flags);
  }
  const documents = answered(recorded, isAnswered);
  return withLimits(fold(documents, flags), init.limits, limitsSaid(documents));
}

/** What flags added to the recorded policies. */
function flagsOf({ success }: InitEvent, recorded: readonly PolicyDocument[]): PolicyFlags {
  const own = fold(recorded).success;
  const verify = (success?.verify ?? []).filter((command) => !own.verify.includes(command));
  return { success: { verify, requireChanges: success?.require_changes } };
}

/** Neither people nor programs are asked again. */
function answered(documents: readonly PolicyDocument[], isAnswered: boolean): readonly PolicyDocument[] {
  if (!isAnswered) return withCallback(documents, false);
  return documents.map((document) =>
    document.onAsk === 'fail' ? document : { ...document, onAsk: 'callback' as const },
  );
}
