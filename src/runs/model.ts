import { createGeminiProvider } from '../providers/gemini/client.js';
import { apiKeyAccess, vertexAccess } from '../providers/gemini/credentials.js';
import { createReplayProvider } from '../providers/replay.js';
import type { Emit, InitEvent } from '../protocol/event.js';
import type { Provider } from '../protocol/provider.js';
import { proxyFor } from '../providers/http/proxy.js';
import { configProblem } from '../protocol/problem.js';
import { errorMessage } from '../lib/errors.js';
import { readTranscript, turnsOf, type Transcript } from '../transcript/reader.js';
import { parseModel } from './model-name.js';
import { DEFAULT_MODEL, type RunRequest, type Task } from './settings.js';

interface OpenedModel {
  readonly provider: Provider;
  /** What the recorded run was asked, if a recording is replayed. */
  readonly recordedTask: Task | undefined;
}

/** The model that a run talks to: a real one, or a recording of one. `named` is the policy's. */
export function openModel(
  request: RunRequest,
  named: string | undefined,
  emit: Emit,
  onSent: () => void,
): OpenedModel {
  if (request.replay !== undefined) return openRecording(request.replay, emit);
  const { provider, name } = parseModel(request.model ?? named ?? DEFAULT_MODEL);
  const { variables } = request;
  const baseUrl = addressIn(
    variables,
    provider === 'vertex' ? 'GOOGLE_VERTEX_BASE_URL' : 'GOOGLE_GEMINI_BASE_URL',
  );
  checkProxy(variables);
  return {
    recordedTask: undefined,
    provider: createGeminiProvider({
      model: name,
      access: provider === 'vertex' ? vertexAccess(variables) : apiKeyAccess(variables),
      baseUrl,
      includeThoughts: request.include?.thoughts ?? false,
      proxyVariables: variables,
      onSent,
    }),
  };
}

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
    provider: createReplayProvider(
      turns,
      init?.model ?? (turns[0]?.model as string),
      transcript.lines.filter((line) => line.type === 'compression'),
    ),
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
