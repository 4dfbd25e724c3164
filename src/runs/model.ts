import { createGeminiProvider } from '../providers/gemini/client.js';
import { apiKeyAccess, vertexAccess } from '../providers/gemini/credentials.js';
import { openAiAccess } from '../providers/openai/access.js';
import { createReplayProvider, type Said } from '../providers/replay.js';
import type { Emit, InitEvent } from '../protocol/event.js';
import type { ModelSettings, Provider, ToolProtocol } from '../protocol/provider.js';
import { proxyFor } from '../providers/http/proxy.js';
import { configProblem } from '../protocol/problem.js';
import { errorMessage } from '../lib/errors.js';
import { readTranscript, turnsOf, type Transcript } from '../transcript/reader.js';
import { parseModel, type ModelChoice } from './model-name.js';
import { DEFAULT_MODEL, type RunRequest, type Task } from './settings.js';

export interface OpenedModel {
  readonly provider: Provider;
  readonly toolProtocol: ToolProtocol;
  /** What the recorded run was asked, if a recording is replayed. */
  readonly recordedTask: Task | undefined;
}

interface PolicyWishes {
  readonly model: string | undefined;
  /** How a model of this name is to answer. */
  readonly settingsOf: (model: string) => ModelSettings;
}

/** The model that a run talks to: a real one, or a recording of one, some of which may have been `said`. */
export async function openModel(
  request: RunRequest,
  policy: PolicyWishes,
  emit: Emit,
  onSent: () => void,
  said?: Said,
): Promise<OpenedModel> {
  if (request.replay !== undefined) return openRecording(request.replay, emit, said);
  const choice = parseModel(request.model ?? policy.model ?? DEFAULT_MODEL);
  const provider = await openProvider(choice, request, policy, onSent);
  const { toolProtocol = 'native' } = request;
  return { provider: await speaking(toolProtocol, provider), toolProtocol, recordedTask: undefined };
}

async function openProvider(
  choice: ModelChoice,
  request: RunRequest,
  policy: PolicyWishes,
  onSent: () => void,
): Promise<Provider> {
  const { variables } = request;
  const baseUrl = addressIn(variables, BASE_URLS[choice.provider]);
  checkProxy(variables);
  const modelSettings = policy.settingsOf(choice.name);
  const common = { model: choice.name, modelSettings, proxyVariables: variables, onSent };
  if (choice.provider === 'openai') {
    const access = openAiAccess(variables, baseUrl);
    const { createOpenAiProvider } = await import('../providers/openai/client.js');
    return createOpenAiProvider({ ...common, access });
  }
  return createGeminiProvider({
    ...common,
    access: choice.provider === 'vertex' ? vertexAccess(variables) : apiKeyAccess(variables),
    baseUrl,
    includeThoughts: request.include?.thoughts ?? false,
  });
}

async function speaking(protocol: ToolProtocol, provider: Provider): Promise<Provider> {
  if (protocol === 'native') return provider;
  const { withTextTools } = await import('../providers/text-tools/wrap.js');
  return withTextTools(provider);
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

function openRecording(path: string, emit: Emit, said: Said | undefined): OpenedModel {
  const transcript = readTranscript(path);
  const turns = turnsOf(transcript);
  const doubt = doubtAbout(transcript);
  if (doubt) emit({ type: 'error', severity: 'warning', class: 'recording', message: doubt });
  const init = transcript.lines.find((line): line is typeof line & InitEvent => line.type === 'init');
  return {
    provider: createReplayProvider(
      turns,
      init?.model ?? (turns[0]?.model as string),
      transcript.lines.filter((line) => line.type === 'compression'),
      said,
    ),
    // Its calls have been read already, whatever they were written in.
    toolProtocol: init?.tool_protocol ?? 'native',
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
