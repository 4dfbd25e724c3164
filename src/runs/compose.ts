import { Budget } from '../agent/budget.js';
import { ContextWindow } from '../agent/context-window.js';
import { LoopDetector } from '../agent/loop-detector.js';
import type { AgentDeps } from '../agent/loop.js';
import { systemInstruction } from '../agent/prompt.js';
import { acceptAll, formInstruction, schemaReviewer } from '../agent/review.js';
import { realPath } from '../lib/real-path.js';
import type { Part } from '../protocol/content.js';
import type { Denial } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import { Refusals } from '../scheduler/refusals.js';
import { responseContent } from '../scheduler/response.js';
import { composeTools } from './compose-tools.js';
import { initEvent } from './init-event.js';
import { openModel } from './model.js';
import { checkPriced, countable, pricesOf, settingsIn, windowIn } from './model-settings.js';
import { openingOf } from './opening.js';
import { readOutputSchema } from './output-schema.js';
import type { OpenedModel, RunParts } from './run-parts.js';
import type { Session } from './session.js';
import { compressAt, enginesOf, fallbackIn, filesNamedIn, loopSettings, modelIn } from './policies.js';
import { runnerFiles, type RunRequest, type Task } from './settings.js';

export interface Composed {
  readonly task: readonly Part[];
  readonly agent: AgentDeps;
  readonly denials: readonly Denial[];
  close(): Promise<void>;
}

/** Puts the parts of a run together, and tells the transcript what they are. */
export async function compose(request: RunRequest, parts: RunParts): Promise<Composed> {
  const { workspace, documents, limits, session, signal } = parts;
  const started = performance.now();
  const failOnAsk = documents.some(({ onAsk }) => onAsk === 'fail');
  const refusals = new Refusals({ limit: limits.denials, failOnAsk });
  const budget = new Budget({
    limits,
    pricesOf: (answered) => pricesOf(documents, opened.provider.model, answered),
    elapsedMs: () => performance.now() - started,
    denials: () => refusals.denials.length,
  });
  // While the model thinks, its tools are made ready.
  const prepareTools = () => offer.tools().forEach((tool) => tool.prepare());
  const opened: OpenedModel = await openModelFor(request, parts, budget, prepareTools);
  const { provider } = opened;

  const given = await request.readTask();
  const task = given ?? opened.recordedTask;
  if (!task)
    throw configProblem('prompt', 'no prompt', { hint: 'Give one with -p, --prompt-file, or on stdin.' });

  const place = {
    workspace,
    writeProtected: [...session.own, ...runnerFiles(request.variables)].map((path) => realPath(path)),
    home: request.variables['HOME'],
    untrusted: task.untrusted ?? false,
  };
  const policy = enginesOf(documents, place);
  const named = filesNamedIn(documents, place);
  // A recorded message has them in it already.
  const opening = given ? openingOf(named, place.untrusted) : { parts: [], warnings: [] };
  const output =
    request.outputSchema === undefined ? undefined : await readOutputSchema(request.outputSchema);
  const toolParts = { policy, named, budget, refusals, provider };
  const { offer, scheduler, sources } = await composeTools(request, parts, toolParts);
  const close = async () => {
    provider.close();
    await sources.close();
  };

  const instruction = systemInstruction({ workspace, allowed: policy.summary });
  const system = output ? `${instruction}\n\n${formInstruction(output.schema)}` : instruction;

  const tools = offer.tools().map(({ name }) => name);
  session.emit(initEvent(request, parts, opened, { system, tools, mcp_servers: sources.servers }));
  if (sources.problem) {
    await close();
    throw sources.problem;
  }
  for (const message of opening.warnings)
    session.emit({ type: 'error', severity: 'warning', class: 'context', message });
  const message = [...task.parts, ...opening.parts];
  tellTask(session, task, message);

  const turnDeps = {
    provider,
    system,
    tools: offer.declarations(),
    budget,
    emit: session.emit,
    includeThoughts: request.include?.thoughts ?? false,
    signal,
  };
  const window = () => windowIn(documents, provider.model);
  return {
    task: message,
    denials: refusals.denials,
    close,
    agent: {
      ...turnDeps,
      // Servers may change their tools on the way.
      get tools() {
        return offer.declarations();
      },
      context: new ContextWindow({ window, compressAt: compressAt(documents) }, turnDeps),
      loops: new LoopDetector(loopSettings(documents), session.emit),
      runCalls: scheduler.run,
      endAfter: () => refusals.outcome(),
      answer: (results) => {
        const notices = budget.notices();
        for (const notice of notices) session.emit(notice);
        return responseContent(
          results,
          notices.map(({ message: words }) => words),
        );
      },
      review: output ? schemaReviewer(output.schema, output.faultsOf) : acceptAll,
    },
  };
}

function openModelFor(
  request: RunRequest,
  { documents, limits, session }: RunParts,
  budget: Budget,
  onSent: () => void,
): Promise<OpenedModel> {
  return openModel(request, {
    model: modelIn(documents),
    fallback: fallbackIn(documents),
    settingsOf: (model) => {
      checkPriced(limits, model, pricesOf(documents, model));
      return settingsIn(documents, model);
    },
    retries: {
      retryTimeMs: limits.retry_time_ms,
      charge: (usage, model) => {
        const cost_usd = budget.chargeTokens(usage, model);
        const affordable = budget.exceeded() === undefined;
        return { affordable, ...(cost_usd !== undefined && { cost_usd }) };
      },
    },
    counted: (provider) => countable(provider, limits, session.emit),
    emit: session.emit,
    onSent,
  });
}

/** The first message, as the user wrote it and as the model gets it. */
function tellTask(session: Session, { text, untrusted }: Task, parts: readonly Part[]): void {
  session.emit({
    type: 'message',
    role: 'user',
    content: text,
    parts,
    ...(untrusted && { untrusted }),
  });
}
