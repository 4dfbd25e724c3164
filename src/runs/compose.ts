import { join, relative } from 'node:path';
import { Budget } from '../agent/budget.js';
import type { AgentDeps } from '../agent/loop.js';
import { systemInstruction } from '../agent/prompt.js';
import { acceptAll, formInstruction, schemaReviewer } from '../agent/review.js';
import { createAsk } from '../approvals/ask.js';
import { Deferred, NO_ANSWERS } from '../approvals/defer.js';
import { Grants } from '../approvals/grants.js';
import { gitHead } from '../lib/git.js';
import { sha256 } from '../lib/ids.js';
import { isInside, realPath } from '../lib/real-path.js';
import type { PolicyDocument } from '../policy/document.js';
import type { Part } from '../protocol/content.js';
import { SCHEMA_VERSION, type Limits } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import type { Ground, Provider } from '../protocol/provider.js';
import { runCommand, runProgram } from '../sandbox/local.js';
import { responseContent } from '../scheduler/response.js';
import { Refusals } from '../scheduler/refusals.js';
import { createScheduler } from '../scheduler/scheduler.js';
import { builtinTools } from '../tools/builtin.js';
import { createRegistry } from '../tools/registry.js';
import { watchApprover } from './approver.js';
import { openModel } from './model.js';
import { openingOf } from './opening.js';
import { readOutputSchema } from './output-schema.js';
import type { Leftovers, Session } from './session.js';
import { enginesOf, filesNamedIn, modelIn, narrowestMode, rootCommands, shellSettings } from './policies.js';
import { childEnvironment, runnerFiles, type RunRequest } from './settings.js';
import { VERSION } from './version.js';

export interface RunParts {
  readonly workspace: string;
  readonly documents: readonly PolicyDocument[];
  readonly limits: Limits;
  readonly session: Session;
  readonly signal: AbortSignal;
}

export interface Composed {
  readonly task: readonly Part[];
  readonly agent: AgentDeps;
  readonly leftovers: Required<Leftovers>;
  close(): void;
}

/** Puts the parts of a run together, and tells the transcript what they are. */
export async function compose(request: RunRequest, parts: RunParts): Promise<Composed> {
  const { workspace, documents, limits, session, signal } = parts;
  // While the model thinks, its tools are made ready.
  const prepareTools = () => tools.forEach((tool) => tool.prepare());
  const { provider, recordedTask } = await openModel(request, modelIn(documents), session.emit, prepareTools);
  const given = await request.readTask();
  const task = given ?? recordedTask;
  if (!task)
    throw configProblem('prompt', 'no prompt', { hint: 'Give one with -p, --prompt-file, or on stdin.' });

  const approver = watchApprover(documents, workspace);
  const place = {
    workspace,
    writeProtected: [...session.own, ...approver.files, ...runnerFiles(request.variables)].map((path) =>
      realPath(path),
    ),
    home: request.variables['HOME'],
    untrusted: task.untrusted ?? false,
  };
  const policy = enginesOf(documents, place);
  const named = filesNamedIn(documents, place);
  // A recorded message has them in it already.
  const opening = given ? openingOf(named, place.untrusted) : { parts: [], warnings: [] };
  const shell = shellSettings(documents);
  const environment = childEnvironment(request.variables, shell);
  const budget = new Budget(limits);
  const ground = provider.ground && charged(provider.ground, budget);
  const web = {
    network: policy.network,
    ground,
    userAgent: `bosun/${VERSION}`,
    outputCap: limits.tool_output,
  };
  const registry = createRegistry(
    builtinTools({
      workspace,
      environment,
      runCommand,
      rootCommands,
      ...shell.timeouts,
      admits: policy.admits,
      outputCap: limits.tool_output,
      memory: named.memory?.real,
      onTodos: (todos) => session.emit({ type: 'todos', todos }),
      web,
    }),
  );
  const tools = registry.tools
    .filter((tool) => policy.mayOffer(tool))
    // Searching is an ability of the provider.
    .filter(({ name }) => ground !== undefined || name !== 'google_web_search');
  const output =
    request.outputSchema === undefined ? undefined : await readOutputSchema(request.outputSchema);
  const instruction = systemInstruction({ workspace, allowed: policy.summary });
  const system = output ? `${instruction}\n\n${formInstruction(output.schema)}` : instruction;
  const refusals = new Refusals(limits.denials);
  const deferred = new Deferred();
  const scheduler = createScheduler({
    findTool: registry.find,
    toolNames: tools.map(({ name }) => name),
    policy,
    refusals,
    ask: createAsk({
      grants: new Grants(),
      deferred,
      answers: NO_ANSWERS,
      allowed: policy.summary,
      emit: session.emit,
      runProgram,
      directory: workspace,
      environment: (approver) => childEnvironment(request.variables, approver),
      tampered: approver.tampered,
    }),
    admitCall: () => budget.admitCall(),
    parallel: limits.parallel,
    outputCap: limits.tool_output,
    outputPath: (callId) => {
      const path = join(session.outputs, `${fileName(callId)}.txt`);
      return { path, shown: shownPath(workspace, path) };
    },
    emit: session.emit,
    onState: (tool_id, state) =>
      request.include?.toolState && session.emit({ type: 'tool_state', tool_id, state }),
    onLive: (tool_id, content) => {
      session.live(content);
      if (request.include?.toolOutput) session.emit({ type: 'tool_output', tool_id, content });
    },
  });

  tellInit(
    request,
    parts,
    provider,
    system,
    tools.map(({ name }) => name),
  );
  for (const message of opening.warnings)
    session.emit({ type: 'error', severity: 'warning', class: 'context', message });
  const { text, untrusted } = task;
  const message = [...task.parts, ...opening.parts];
  session.emit({
    type: 'message',
    role: 'user',
    content: text,
    parts: message,
    ...(untrusted && { untrusted }),
  });
  return {
    task: message,
    leftovers: { denials: refusals.denials, pending: deferred.requests },
    close: () => provider.close(),
    agent: {
      provider,
      system,
      tools: tools.map(({ name, description, parameters }) => {
        const note = policy.describe(name);
        return { name, description: note ? `${description} ${note}` : description, parameters };
      }),
      budget,
      emit: session.emit,
      includeThoughts: request.include?.thoughts ?? false,
      signal,
      runCalls: scheduler.run,
      endAfter: () => refusals.outcome() ?? deferred.outcome(session.transcript),
      answer: responseContent,
      review: output ? schemaReviewer(output.schema, output.faultsOf) : acceptAll,
    },
  };
}

/** What tools ask of the model counts like what the run itself asks. */
function charged(ground: Ground, budget: Budget): Ground {
  return async (request, signal) => {
    if (!budget.tokensLeft()) {
      const message = 'the limit of tokens is reached';
      return { type: 'failure', class: 'quota', retryable: false, message };
    }
    const reply = await ground(request, signal);
    if (reply.type === 'grounded') budget.chargeTokens(reply.usage);
    return reply;
  };
}

function tellInit(
  request: RunRequest,
  { workspace, documents, limits, session }: RunParts,
  provider: Provider,
  system: string,
  tools: readonly string[],
): void {
  session.emit({
    type: 'init',
    version: VERSION,
    schema_version: SCHEMA_VERSION,
    model: provider.model,
    provider: provider.name,
    auth: provider.auth,
    cwd: workspace,
    git_head: gitHead(workspace),
    policy: documents.flatMap(({ sources }) => sources),
    mode: narrowestMode(documents),
    limits,
    tools,
    mcp_servers: [],
    sandbox: { mode: 'off', active: false, backend: null, reason: 'not supported in this version' },
    ...(request.replay !== undefined && { replay: request.replay }),
    system,
  });
}

/** Relative where the model can reach it that way. */
function shownPath(workspace: string, path: string): string {
  return isInside(workspace, path) ? relative(workspace, path) : path;
}

/** A call's id comes from outside; as a file name it must not lead anywhere. */
function fileName(callId: string): string {
  if (/^[\w-]{1,80}$/.test(callId)) return callId;
  return `${callId.replaceAll(/[^\w-]/g, '_').slice(0, 80)}-${sha256(callId).slice(0, 8)}`;
}
