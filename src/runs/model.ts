import { createGeminiProvider } from '../providers/gemini/client.js';
import { apiKeyAccess, vertexAccess } from '../providers/gemini/credentials.js';
import { openAiAccess } from '../providers/openai/access.js';
import { withFallback, type Candidate } from '../providers/fallback.js';
import { createReplayProvider } from '../providers/replay.js';
import { withRetries, type RetrySettings } from '../providers/retry.js';
import type { Emit, InitEvent } from '../protocol/event.js';
import type { Provider } from '../protocol/provider.js';
import { proxyFor } from '../providers/http/proxy.js';
import { configProblem } from '../protocol/problem.js';
import { errorMessage } from '../lib/errors.js';
import { readTranscript, turnsOf, type Transcript } from '../transcript/reader.js';
import { parseModel, type ModelChoice } from './model-name.js';
import { DEFAULT_MODEL, type RunRequest, type Task } from './settings.js';

interface OpenedModel {
  readonly provider: Provider;
  /** What the recorded run was asked, if a recording is replayed. */
  readonly recordedTask: Task | undefined;
}

export interface ModelWishes {
  /** What the policies name. */
  readonly model: string | undefined;
  readonly fallback: readonly string[];
  readonly retries: Pick<RetrySettings, 'retryTimeMs' | 'charge'>;
  readonly emit: Emit;
  /** Called when a request is on its way. */
  readonly onSent: () => void;
}

/** The model that a run talks to: a real one, with those that may take its place, or a recording of one. */
export async function openModel(request: RunRequest, wishes: ModelWishes): Promise<OpenedModel> {
  const { emit, onSent } = wishes;
  if (request.replay !== undefined) return openRecording(request.replay, emit);
  checkProxy(request.variables);
  const names = new Set([request.model ?? wishes.model ?? DEFAULT_MODEL, ...wishes.fallback]);
  const retries: RetrySettings = {
    ...wishes.retries,
    firstWaitMs: request.patience?.firstWaitMs,
    onRetry: (retry) => emit({ type: 'retry', ...retry }),
  };
  // Names that mean nothing are found before the first request, credentials that are missing when they are needed.
  const [first, ...others] = [...names].map((name): Candidate => {
    const choice = parseModel(name);
    return { name, open: async () => withRetries(await openProvider(choice, request, onSent), retries) };
  }) as [Candidate, ...Candidate[]];
  const model = await first.open();
  const warn = (message: string) => emit({ type: 'error', severity: 'warning', class: 'fallback', message });
  const provider = others.length > 0 ? withFallback(first.name, model, others, warn) : model;
  return { recordedTask: undefined, provider };
}

async function openProvider(
  choice: ModelChoice,
  { variables, include, patience }: RunRequest,
  onSent: () => void,
): Promise<Provider> {
  const baseUrl = addressIn(variables, BASE_URLS[choice.provider]);
  const common = { model: choice.name, proxyVariables: variables, timeouts: patience, onSent };
  if (choice.provider === 'openai') {
    const access = openAiAccess(variables, baseUrl);
    const { createOpenAiProvider } = await import('../providers/openai/client.js');
    return createOpenAiProvider({ ...common, access });
  }
  return createGeminiProvider({
    ...common,
    access: choice.provider === 'vertex' ? vertexAccess(variables) : apiKeyAccess(variables),
    baseUrl,
    includeThoughts: include?.thoughts ?? false,
  });
}

const BASE_URLS: Readonly<Record<ModelChoice['provider'], string>> = {
  gemini: 'GOOGLE_GEMINI_BASE_URL',
  vertex: 'GOOGLE_VERTEX_BASE_URL',
  openai: 'OPENAI_BASE_URL',
};

function addressIn(variables: RunRequest['variables'], name: string): string | undefined {
  const value = variables[name]?.trim();
  if (!value) return undefined;
  if (!/^https?:$/.test(protocolOf(value))) {
    throw configProblem('base_url', `${name}=${value} is not an http:// or https:// address`);
  }
  return value;
}

function protocolOf(address: string): string {
  return URL.canParse(address) ? new URL(address).protocol : '';
}

/** A proxy that cannot be understood is found before the first request. */
function checkProxy(variables: RunRequest['variables']): void {
  try {
    for (const scheme of ['http', 'https']) proxyFor(new URL(`${scheme}://proxy-check.invalid`), variables);
  } catch (error) {
    throw configProblem('proxy', errorMessage(error), {
      hint: 'Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.',
    });
  }
}

function openRecording(path: string, emit: Emit): OpenedModel {
  const transcript = readTranscript(path);
  const turns = turnsOf(transcript);
  const doubt = doubtAbout(transcript);
  if (doubt) emit({ type: 'error', severity: 'warning', class: 'recording', message: doubt });
  const init = transcript.lines.find((line): line is typeof line & InitEvent => line.type === 'init');
  return {
    provider: createReplayProvider(turns, init?.model ?? (turns[0]?.model as string)),
    recordedTask: recordedTask(transcript),
  };
}

function doubtAbout({ path, torn, brokenAt, lines }: Transcript): string | undefined {
  if (torn) return `the recording ${path} is cut off after line ${lines.length}`;
  if (brokenAt !== undefined)
    return `the recording ${path} was changed: its hash chain breaks at line ${brokenAt}`;
  return undefined;
}

function recordedTask({ lines }: Transcript): Task | undefined {
  for (const line of lines) {
    if (line.type !== 'message' || line.role !== 'user') continue;
    const parts = line.parts ?? [{ text: line.content }];
    return { text: line.content, parts, ...(line.untrusted && { untrusted: true }) };
  }
  return undefined;
}
