import { join, relative } from 'node:path';
import { Budget } from '../agent/budget.js';
import { ContextWindow } from '../agent/context-window.js';
import { startHistory } from '../agent/history.js';
import { LoopDetector } from '../agent/loop-detector.js';
import type { AgentDeps, AgentStart } from '../agent/loop.js';
import { systemInstruction } from '../agent/prompt.js';
import { acceptAll, formInstruction, schemaReviewer } from '../agent/review.js';
import { createAsk } from '../approvals/ask.js';
import { Deferred, NO_ANSWERS } from '../approvals/defer.js';
import { Grants } from '../approvals/grants.js';
import { gitHead } from '../lib/git.js';
import { sha256 } from '../lib/ids.js';
import { isInside, realPath } from '../lib/real-path.js';
import type { PolicyDocument } from '../policy/document.js';
import { SCHEMA_VERSION, type Limits } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import type { Ground } from '../protocol/provider.js';
import type { JsonSchema } from '../protocol/tool.js';
import { runCommand, runProgram } from '../sandbox/local.js';
import { responseContent } from '../scheduler/response.js';
import { Refusals } from '../scheduler/refusals.js';
import { resumeCalls } from '../scheduler/resumed.js';
import { createScheduler } from '../scheduler/scheduler.js';
import { builtinTools } from '../tools/builtin.js';
import { createRegistry } from '../tools/registry.js';
import { watchApprover } from './approver.js';
import { openModel, type OpenedModel } from './model.js';
import { checkPriced, countable, pricesIn, settingsIn, windowIn } from './model-settings.js';
import { openingOf } from './opening.js';
import { outputSchema, readOutputSchema } from './output-schema.js';
import {
  answersOf,
  openUses,
  pastOf,
  recall,
  restore,
  saidIn,
  withoutRepeats,
  type ResumedRun,
} from './resumed.js';
import type { Leftovers, Session } from './session.js';
import {
  compressAt,
  enginesOf,
  filesNamedIn,
  loopSettings,
  modelIn,
  narrowestMode,
  rootCommands,
  shellSettings,
} from './policies.js';
import { childEnvironment, runnerFiles, type RunRequest } from './settings.js';
import { VERSION } from './version.js';

export interface RunParts {
  readonly workspace: string;
  readonly documents: readonly PolicyDocument[];
  readonly limits: Limits;
  readonly session: Session;
  readonly signal: AbortSignal;
  /** What was before, if the run is taken up again. */
  readonly resumed: ResumedRun | undefined;
}

export interface Composed {
  readonly start: AgentStart;
  readonly agent: AgentDeps;
  readonly leftovers: Required<Leftovers>;
  close(): void;
}

/** Puts the parts of a run together, and tells the transcript what they are. */
export async function compose(request: RunRequest, parts: RunParts): Promise<Composed> {
  const { workspace, documents, limits, session, signal, resumed } = parts;
  // While the model thinks, its tools are made ready.
  const prepareTools = () => tools.forEach((tool) => tool.prepare());
  const wishes = { model: modelIn(documents), settingsOf: (model: string) => settingsIn(documents, model) };
  const opened = await openModel(request, wishes, session.emit, prepareTools, resumed && saidIn(resumed));
  const pricesOf = pricesIn(documents, opened.provider.model);
  checkPriced(limits, opened.provider.model, pricesOf(opened.provider.model));
  const provider = countable(opened.provider, limits, session.emit);
  const given = await request.readTask();
  const task = given ?? resumed?.task ?? opened.recordedTask;
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
  const refusals = new Refusals(limits.denials);
  const budget = new Budget({
    limits,
    pricesOf,
    elapsedMs: () => session.elapsedMs,
    denials: () => refusals.denials.length,
  });
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
  const output = await outputOf(request, resumed);
  const instruction = systemInstruction({ workspace, allowed: policy.summary });
  const system = output ? `${instruction}\n\n${formInstruction(output.schema)}` : instruction;
  const deferred = new Deferred();
  const grants = new Grants();
  if (resumed) restore(resumed, { budget, refusals, grants });
  const scheduler = createScheduler({
    findTool: registry.find,
    toolNames: tools.map(({ name }) => name),
    policy,
    refusals,
    ask: createAsk({
      grants,
      deferred,
      answers: resumed ? answersOf(resumed) : NO_ANSWERS,
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
    emit: resumed ? withoutRepeats(resumed, session.emit) : session.emit,
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
    opened,
    system,
    output?.schema,
    tools.map(({ name }) => name),
  );
  for (const message of opening.warnings)
    session.emit({ type: 'error', severity: 'warning', class: 'context', message });
  const { text, untrusted } = task;
  const message = [...task.parts, ...opening.parts];
  if (resumed) session.remind(openUses(resumed));
  else
    session.emit({
      type: 'message',
      role: 'user',
      content: text,
      parts: message,
      ...(untrusted && { untrusted }),
    });
  const turnDeps = {
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
  };
  const context = new ContextWindow(
    { window: windowIn(documents, provider.model), compressAt: compressAt(documents) },
    turnDeps,
  );
  const loops = new LoopDetector(loopSettings(documents), session.emit);
  if (resumed) recall(resumed, context, loops);
  let told = resumed?.rebuilt.notices ?? [];
  return {
    start: resumed?.rebuilt.start ?? { history: startHistory(message) },
    leftovers: { denials: refusals.denials, pending: deferred.requests },
    close: () => provider.close(),
    agent: {
      ...turnDeps,
      context,
      loops,
      runCalls: resumed
        ? resumeCalls(scheduler.run, (call) => pastOf(resumed, call), session.emit)
        : scheduler.run,
      endAfter: () => refusals.outcome() ?? deferred.outcome(session.transcript),
      answer: (results) => {
        const notices = budget.notices();
        for (const notice of notices) session.emit(notice);
        const messages = [...told, ...notices.map(({ message }) => message)];
        told = [];
        return responseContent(results, messages);
      },
      review: output ? schemaReviewer(output.schema, output.faultsOf, resumed?.rebuilt.repairs) : acceptAll,
    },
  };
}

async function outputOf({ outputSchema: path }: RunRequest, resumed: ResumedRun | undefined) {
  const schema = resumed?.recorded.init.output_schema;
  if (schema) return outputSchema(schema);
  return path === undefined ? undefined : readOutputSchema(path);
}

/** What tools ask of the model counts like what the run itself asks. */
function charged(ground: Ground, budget: Budget): Ground {
  return async (request, signal) => {
    if (!budget.canSpend()) {
      const message = 'the limit of tokens or cost is reached';
      return { type: 'failure', class: 'quota', retryable: false, message };
    }
    const reply = await ground(request, signal);
    if (reply.type !== 'grounded') return reply;
    const cost_usd = budget.chargeTokens(reply.usage, reply.model);
    return { ...reply, ...(cost_usd !== undefined && { cost_usd }) };
  };
}

function tellInit(
  request: RunRequest,
  { workspace, documents, limits, session, resumed }: RunParts,
  { provider, toolProtocol }: OpenedModel,
  system: string,
  output: JsonSchema | undefined,
  tools: readonly string[],
): void {
  session.emit({
    type: 'init',
    version: VERSION,
    schema_version: SCHEMA_VERSION,
    model: provider.model,
    ...(provider.settings && { model_settings: provider.settings }),
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
    ...(toolProtocol !== 'native' && { tool_protocol: toolProtocol }),
    ...(request.replay !== undefined && { replay: request.replay }),
    ...(resumed && { resumed_from: resumed.from }),
    effective_policy: documents,
    ...(output && { output_schema: output }),
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
