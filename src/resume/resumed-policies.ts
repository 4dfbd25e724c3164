import { attempt } from '../lib/attempt.js';
import { realPath } from '../lib/real-path.js';
import type { AnswerBinding, ApprovalAnswer } from '../protocol/approval.js';
import { MODES, type Mode } from '../protocol/decision.js';
import type { InitEvent } from '../protocol/event.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import { hashesOf, type Transcript } from '../protocol/transcript.js';
import type { RecordedRun } from './fold.js';

/** What is needed of a single policy. */
interface Document {
  readonly mode: Mode;
  readonly sources: readonly { readonly file?: string }[];
}

/** Why a signature does not count. */
export type SignatureFault = (
  answer: ApprovalAnswer,
  binding: AnswerBinding,
  at: {
    readonly sessionId: string;
    readonly trustedKeys: readonly (readonly string[])[];
    readonly lines: readonly string[];
  },
) => string | undefined;

/** What policies mean, by the code that reads and folds them. */
export interface PolicyMeaning<D extends Document> {
  /** Adds what older versions did not record. */
  completed(document: D): D;
  narrowed(document: D, mode: Mode): D;
  hash(documents: readonly D[]): string;
  trustedKeys(documents: readonly D[]): readonly (readonly string[])[];
  verifyCommands(documents: readonly D[]): readonly string[];
  readonly signatureFault: SignatureFault;
}

export interface Resumption {
  readonly transcript: Transcript;
  readonly recorded: RecordedRun;
  /** The last one of them. */
  readonly init: InitEvent;
  readonly request: {
    readonly mode?: Mode;
    readonly verify?: readonly string[];
    readonly patchOut?: string;
    readonly replay?: string;
    readonly cwd?: string;
    readonly folder: string;
  };
}

export interface ResumedPolicies<D> {
  readonly documents: readonly D[];
  /** Whether the rest of the transcript can be relied on. */
  readonly isVouched: boolean;
}

/**
 * The policies of the run, narrowed by flags. Anyone who can write a transcript can rewrite it: if policies trust
 * keys, one of these must have signed it, or all its policies must be given again.
 */
export function resumedPolicies<D extends Document>(
  resumption: Resumption,
  given: readonly D[],
  policy: PolicyMeaning<D>,
): ResumedPolicies<D> {
  const { init, request } = resumption;
  const own = init.effective_policy as unknown as readonly D[];
  const keys = policy.trustedKeys([...own, ...given]);
  const isVouched = keys.length === 0 || (given.length === 0 && isSigned(resumption, keys, policy));
  const isSame = (one: D) => (other: D) => isSamePolicy(one, other, policy);
  const recorded = isVouched
    ? own
    : own.map((document) => givenAgain(document, given.find(isSame(document)), given.length, resumption));
  if (!isVouched) checkFlags(resumption, policy.verifyCommands(recorded));
  // The run's own policy takes nothing away, wherever it is now.
  const fresh = given.filter((document) => !own.some((one) => isSame(one)(document)));
  const all = [...recorded, ...fresh];
  const { mode } = request;
  const documents = mode === undefined ? all : all.map((document) => policy.narrowed(document, mode));
  return { documents, isVouched };
}

/** Whether one of the keys has signed the transcript, at least up to its last start. */
function isSigned(
  { transcript, recorded }: Resumption,
  trustedKeys: readonly (readonly string[])[],
  { signatureFault }: { readonly signatureFault: SignatureFault },
): boolean {
  const start = transcript.lines.findLastIndex(({ type }) => type === 'init');
  const lines = hashesOf(transcript).slice(start);
  const sessionId = transcript.lines[0]?.session_id ?? '';
  return recorded.responses.some(
    ({ binding, ...answer }) =>
      binding && !signatureFault(answer, binding, { sessionId, trustedKeys, lines }),
  );
}

/** The policy that a recorded one was made from, as given now. */
function givenAgain<D extends Document>(
  recorded: D,
  same: D | undefined,
  given: number,
  { transcript }: Resumption,
): D {
  if (same) return { ...same, mode: recorded.mode };
  const file = recorded.sources[0]?.file;
  throw given === 0
    ? unproven(
        transcript,
        'its policy names trusted keys, and none of them has signed it since it was last started',
        'Give all its policies with --policy, or sign an answer with bosun approve --key.',
      )
    : unproven(
        transcript,
        `a policy in it${file === undefined ? '' : ` (${file})`} is not among those given by --policy`,
        'Give all policies of the run as they were when it began.',
      );
}

/** Whether a recorded policy is a given one, perhaps with its mode narrowed. */
function isSamePolicy<D extends Document>(
  recorded: D,
  given: D,
  { hash, completed }: PolicyMeaning<D>,
): boolean {
  if (MODES.indexOf(recorded.mode) > MODES.indexOf(given.mode)) return false;
  return hash([{ ...given, mode: recorded.mode }]) === hash([completed(recorded)]);
}

/** What a transcript can cause besides its policies, it may not cause by itself. */
function checkFlags({ transcript, init, request }: Resumption, said: readonly string[]): void {
  const commands = [...said, ...(request.verify ?? [])];
  const verify = init.success?.verify.find((command) => !commands.includes(command));
  const isHere = request.cwd !== undefined || attempt(() => realPath(request.folder)) === init.cwd;
  const needed: [what: string | undefined, flag: string][] = [
    [verify && `the verify command \`${verify}\``, '--verify'],
    [isHere ? undefined : `the workspace ${init.cwd}`, '--cwd'],
    [
      request.patchOut === undefined && init.patch_out ? `the patch ${init.patch_out}` : undefined,
      '--patch-out',
    ],
    [request.replay === undefined && init.replay ? `the recording ${init.replay}` : undefined, '--replay'],
  ];
  for (const [what, flag] of needed)
    if (what !== undefined)
      throw unproven(
        transcript,
        `${what} is only in the transcript, which is not signed`,
        `Give it again by ${flag}.`,
      );
}

function unproven({ path }: Transcript, why: string, hint: string): Problem {
  return configProblem('resume', `${path} cannot be resumed: ${why}`, { hint });
}
