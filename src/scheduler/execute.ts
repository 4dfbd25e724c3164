import { errorMessage, isDiskFull } from '../lib/errors.js';
import { OutputFile } from '../lib/output-file.js';
import type { OutputRoom } from '../lib/output-room.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { cleanText } from '../lib/text.js';
import type { Call, CallResult } from '../protocol/call.js';
import type { ToolError } from '../protocol/tool-error.js';
import type { Invocation, ToolReport } from '../protocol/tool.js';
import { convertContent } from './response.js';
import { throttle } from './throttle.js';

/** How long a tool may take after it was told to stop; then it is abandoned. */
const ABORT_GRACE_MS = 3000;
const LIVE_INTERVAL_MS = 100;
/** Output that a tool has cut may be longer by the notice that says so. */
const ROOM_FOR_NOTICE = 500;

export interface ExecuteDeps {
  /** The most characters of output that the model gets. */
  readonly outputCap: number;
  /** Where the full output of a call is written, and how that place is shown. */
  readonly outputPath: (callId: string) => { readonly path: string; readonly shown: string };
  /** The space for the full outputs of all calls together. */
  readonly outputRoom: OutputRoom;
  readonly onLive: (callId: string, text: string) => void;
  readonly redactor: Redactor;
}

const CANCELLED: ToolError = { type: 'cancelled', message: 'Cancelled: the run was stopped.' };

/** The error of a call that was cancelled before it began. */
export const NOT_BEGUN: ToolError = {
  type: 'cancelled',
  message: 'Cancelled before it began: the run was stopped.',
};

/** How a call ended, whether it ran or not. */
export type Ending = Omit<CallResult, 'call' | 'kind' | 'duration_ms'>;

/** Runs one call to its end, even if the tool throws, prints for ever or ignores the signal. */
export async function executeCall(
  call: Call,
  invocation: Invocation,
  signal: AbortSignal,
  deps: ExecuteDeps,
): Promise<Ending> {
  const openOutput = () => {
    const { path, shown } = deps.outputPath(call.id);
    const options = { filter: deps.redactor.stream(), room: deps.outputRoom };
    return new OutputFile(path, shown, deps.outputCap, options);
  };
  const live = throttle(LIVE_INTERVAL_MS, (text) => deps.onLive(call.id, deps.redactor.text(text)));
  const patience = abortPatience(signal);
  try {
    const running = invocation.execute({ callId: call.id, signal, onOutput: live.push, openOutput });
    const report = await Promise.race([running, patience.over]);
    return endingOf(report, signal, { openOutput, outputCap: deps.outputCap });
  } catch (error) {
    if (signal.aborted) return { status: 'cancelled', error: CANCELLED };
    if (isDiskFull(error))
      return { status: 'error', error: { type: 'no_space_left', message: errorMessage(error) } };
    const message = `The tool failed unexpectedly: ${errorMessage(error)}`;
    return { status: 'error', error: { type: 'unhandled_exception', message } };
  } finally {
    live.end();
    patience.end();
  }
}

/** `over` resolves only if the signal fires and the tool then takes too long. */
function abortPatience(signal: AbortSignal) {
  let timer: NodeJS.Timeout | undefined;
  let giveUp = () => {};
  const over = new Promise<ToolReport>((resolve) => {
    giveUp = () => {
      timer = setTimeout(() => resolve({ ok: false, error: CANCELLED }), ABORT_GRACE_MS);
    };
    signal.addEventListener('abort', giveUp, { once: true });
  });
  const end = () => {
    signal.removeEventListener('abort', giveUp);
    clearTimeout(timer);
  };
  return { over, end };
}

interface OutputLimits {
  readonly openOutput: () => OutputFile;
  readonly outputCap: number;
}

function endingOf(report: ToolReport, signal: AbortSignal, room: OutputLimits): Ending {
  const { change, process, full_output, usage } = report;
  const extras = {
    ...(change && { change }),
    ...(process && { process }),
    ...(full_output !== undefined && { full_output }),
    ...(usage && { usage }),
  };
  if (report.ok) {
    const { output, media } = convertContent(report.content);
    const capped = full_output === undefined ? cap(output, room) : { output };
    return { status: 'success', ...extras, ...capped, ...(media && { media }) };
  }
  const { type, message } = report.error;
  const cancelled = type === 'cancelled' && signal.aborted;
  const { output, ...rest } = full_output === undefined ? cap(message, room) : { output: message };
  return {
    status: cancelled ? 'cancelled' : 'error',
    ...extras,
    ...rest,
    error: { type, message: String(output) },
  };
}

function cap(output: NonNullable<Ending['output']>, { openOutput, outputCap }: OutputLimits) {
  if (typeof output === 'object') return { output };
  const text = cleanText(output);
  if (text.length <= outputCap + ROOM_FOR_NOTICE) return { output: text };
  const file = openOutput();
  file.write(Buffer.from(text));
  const { text: kept, path } = file.finish();
  return { output: kept, ...(path !== undefined && { full_output: path }) };
}
