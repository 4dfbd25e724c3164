import { policyHash, signatureFault } from '../approvals/binding.js';
import { attempt } from '../lib/attempt.js';
import { realPath } from '../lib/real-path.js';
import { completed, type PolicyDocument } from '../policy/document.js';
import { fold, narrowed } from '../policy/fold.js';
import { MODES } from '../protocol/decision.js';
import type { InitEvent } from '../protocol/event.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import { hashesOf, type Transcript } from '../transcript/reader.js';
import type { RecordedRun } from '../transcript/resume.js';
import { loadPolicies } from './policies.js';
import type { RunRequest } from './settings.js';

export interface Resumption {
  readonly transcript: Transcript;
  readonly recorded: RecordedRun;
  /** The last one of them. */
  readonly init: InitEvent;
  readonly request: Pick<RunRequest, 'policies' | 'mode' | 'verify' | 'patchOut' | 'replay'> & {
    readonly cwd?: string;
    readonly folder: string;
  };
}

export interface PoliciesToGoOn {
  readonly documents: readonly PolicyDocument[];
  /** Whether what the transcript says besides may be relied on. */
  readonly isVouched: boolean;
}

/**
 * What the run was under, and what flags take away from that. A transcript can be rewritten by whoever can write it:
 * where policies trust keys, one of these must have signed it, or all its policies must be given again.
 */
export async function policiesToGoOn(resumption: Resumption): Promise<PoliciesToGoOn> {
  const { init, request } = resumption;
  const { policies = [], mode, folder } = request;
  const own = init.effective_policy as readonly PolicyDocument[];
  const given = policies.length === 0 ? [] : await loadPolicies({ policies, mode: undefined, folder });
  const keys = fold([...own, ...given]).trustedKeys;
  const isVouched = keys.length === 0 || (given.length === 0 && isSigned(resumption, keys));
  const recorded = isVouched ? own : own.map((document) => givenAgain(document, given, resumption));
  if (!isVouched) checkFlags(resumption, recorded);
  // The very policy of the run takes nothing away, wherever it lies here.
  const fresh = given.filter((document) => !own.some((one) => isSame(one, document)));
  const all = [...recorded, ...fresh];
  const documents = mode === undefined ? all : all.map((document) => narrowed(document, mode));
  return { documents, isVouched };
}

/** Whether one of the keys has signed all that the transcript says, up to its last start at least. */
function isSigned(
  { transcript, recorded }: Resumption,
  trustedKeys: readonly (readonly string[])[],
): boolean {
  const start = transcript.lines.findLastIndex(({ type }) => type === 'init');
  const lines = hashesOf(transcript).slice(start);
  const sessionId = transcript.lines[0]?.session_id ?? '';
  return recorded.responses.some(
    ({ binding, ...answer }) =>
      binding && !signatureFault(answer, binding, { sessionId, trustedKeys, lines }),
  );
}

/** The policy that a recorded one was made from, as it is now. */
function givenAgain(
  recorded: PolicyDocument,
  given: readonly PolicyDocument[],
  { transcript }: Resumption,
): PolicyDocument {
  const same = given.find((document) => isSame(recorded, document));
  if (same) return { ...same, mode: recorded.mode };
  const file = recorded.sources[0]?.file;
  throw given.length === 0
    ? unproven(
        transcript,
        'its policy names trusted keys, and none of them has signed it since it was last started',
        'Give all its policies by --policy, or sign an answer with bosun approve --key.',
      )
    : unproven(
        transcript,
        `a policy in it${file === undefined ? '' : ` (${file})`} is none of those given by --policy`,
        'Give all policies of the run as they were when it began.',
      );
}

/** Whether a recorded policy is a given one, its mode narrowed perhaps. */
function isSame(recorded: PolicyDocument, given: PolicyDocument): boolean {
  if (MODES.indexOf(recorded.mode) > MODES.indexOf(given.mode)) return false;
  return policyHash([{ ...given, mode: recorded.mode }]) === policyHash([completed(recorded)]);
}

/** What a transcript can bring about besides its policies, it must not by itself. */
function checkFlags({ transcript, init, request }: Resumption, documents: readonly PolicyDocument[]): void {
  const commands = [...fold(documents).success.verify, ...(request.verify ?? [])];
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
        `${what} stands only in it, and that is not signed`,
        `Give it again by ${flag}.`,
      );
}

function unproven({ path }: Transcript, why: string, hint: string): Problem {
  return configProblem('resume', `${path} cannot be resumed: ${why}`, { hint });
}
