import { answerWithNotices } from '../agent/answering.js';
import { ContextWindow } from '../agent/context-window.js';
import { redactedHistory, startHistory } from '../agent/history.js';
import { LoopDetector } from '../agent/loop-detector.js';
import type { AgentDeps, AgentStart } from '../agent/loop.js';
import { openingOf, type Opening } from '../agent/opening.js';
import { openOutputSchema, type OutputSchema } from '../agent/output-schema.js';
import { systemInstruction } from '../agent/prompt.js';
import { formInstruction, redactedReview } from '../agent/review.js';
import { taskEvent } from '../agent/task.js';
import { uselessPolicies } from '../policy/allows-nothing.js';
import type { Content, Part } from '../protocol/content.js';
import type { Reviewer } from '../protocol/review.js';
import { windowIn } from '../providers/model-keys.js';
import { openUses, restoreConversation } from '../resume/restore.js';
import { responseContent } from '../scheduler/response.js';
import type { SuccessChecks } from '../success/prepare.js';
import { redactContent } from '../transcript/redact-content.js';
import type { Leftovers } from '../transcript/session.js';
import { permissionsOf } from './permissions.js';
import { composeCalls, type ComposedCalls } from './compose-calls.js';
import { composeTools, type ComposedTools } from './compose-tools.js';
import { initEvent } from './init-event.js';
import { openRunModel, type RunModel } from './run-model.js';
import type { RunBase } from './run-base.js';
import { probeEarly } from './sandbox.js';
import type { RunRequest } from './run-request.js';
import { checksFor, reviewerFor } from './success.js';
import { taskOf, type RunTask } from './task.js';
import { warning } from '../protocol/warning.js';

export interface Composed {
  readonly start: AgentStart;
  readonly agent: AgentDeps;
  readonly leftovers: Required<Pick<Leftovers, 'denials' | 'pending'>>;
  close(): Promise<void>;
  /** Called once nothing of the run is active any more. */
  readonly conclude: SuccessChecks['conclude'];
}

/** Puts the parts of a run together, and records them in the transcript. */
export async function compose(request: RunRequest, base: RunBase): Promise<Composed> {
  const { session, resumed } = base;
  const probed = probeEarly(request, base);
  const model = await openRunModel(request, base);
  const { opened, budget } = model;
  // From here on nobody sees a secret of the user's, not even the model.
  const task = await taskOf(request, base, opened);
  const { untrusted } = task;
  const checks = await checksFor(request, base);
  const { confinement, approver, ...permissions } = permissionsOf(request, base, { checks, untrusted });
  const opening = task.isNew ? openingOf(permissions.named, untrusted, session.redactor.text) : NO_OPENING;
  const output = await openOutputSchema(request.outputSchema, resumed?.recorded.init.output_schema);
  const verifies = !request.dryRun && (checks.initFields.success?.verify.length ?? 0) > 0;
  const toolParts = { ...permissions, budget, opened, untrusted, probed, verifies };
  const tools = await composeTools(request, base, toolParts);
  confinement.active = tools.programs.state.active;
  const calls = composeCalls(request, base, { model, tools, approver, changes: checks.changes });
  model.whileThinking(() => tools.offer.tools().forEach((tool) => tool.prepare()));
  const close = async () => {
    opened.provider.close();
    opened.lookUps?.close();
    await tools.close();
  };
  const system = systemFor(request, base, tools, output);
  const open = { request, base, model, task, opening, output, checks, tools, calls, system };
  recordStart(open);
  if (tools.problem) {
    await close();
    throw tools.problem;
  }
  const review = await reviewerFor(base, checks, { output, shell: tools.shell });
  return { ...agentFrom(open, review), close, conclude: checks.conclude };
}

const NO_OPENING: Opening = { parts: [], warnings: [] };

/** The parts of a run, once they are open. */
interface OpenParts {
  readonly request: RunRequest;
  readonly base: RunBase;
  readonly model: RunModel;
  readonly task: RunTask;
  readonly opening: Opening;
  readonly output: OutputSchema | undefined;
  readonly checks: SuccessChecks;
  readonly tools: ComposedTools;
  readonly calls: ComposedCalls;
  readonly system: string;
}

function systemFor(
  { dryRun = false }: RunRequest,
  { workspace, session }: RunBase,
  { policy }: ComposedTools,
  output: OutputSchema | undefined,
): string {
  const instruction = systemInstruction({ workspace, allowed: policy.summary, dryRun });
  return session.redactor.text(output ? `${instruction}\n\n${formInstruction(output.schema)}` : instruction);
}

/** Begins the transcript. If the run cannot go on, that is all it holds. */
function recordStart({
  request,
  base,
  model,
  task,
  opening,
  output,
  checks,
  tools,
  system,
}: OpenParts): void {
  const { session, effective, resumed } = base;
  const { offer, sources, programs, problem } = tools;
  const facts = {
    system,
    tools: offer.tools().map(({ name }) => name),
    mcp_servers: sources.servers,
    sandbox: programs.state,
    ...(output && { output_schema: output.schema }),
    ...checks.initFields,
  };
  const begin = [
    initEvent(request, base, model.opened, facts),
    ...(programs.warning === undefined ? [] : [warning('sandbox', programs.warning)]),
  ];
  if (problem) {
    session.emitTogether(begin);
    return;
  }
  const warnings = [
    ...opening.warnings.map((message) => warning('context', message)),
    ...uselessPolicies(effective).map((message) => warning('policy', message)),
  ];
  // A transcript has both or neither: a run without its task could not be resumed.
  const first = resumed ? [] : [taskEvent(task, openingMessage({ task, opening }))];
  session.emitTogether([...begin, ...warnings, ...first]);
  if (resumed) session.showAgain(openUses(resumed));
}

function openingMessage({ task, opening }: Pick<OpenParts, 'task' | 'opening'>): readonly Part[] {
  return [...task.parts, ...opening.parts];
}

function agentFrom(open: OpenParts, review: Reviewer): Pick<Composed, 'start' | 'leftovers' | 'agent'> {
  const { request, base, model, tools, calls, system } = open;
  const { effective, session, signal, resumed } = base;
  const { opened, budget, denials } = model;
  const { provider } = opened;
  const { emit } = session;
  const includeThoughts = request.include?.thoughts ?? false;
  const turnDeps = {
    provider,
    system,
    tools: tools.offer.declarations(),
    budget,
    emit,
    includeThoughts,
    signal,
  };
  const window = () => windowIn(effective.modelKeys, provider.model);
  const context = new ContextWindow({ window, compressAt: effective.compressAt }, turnDeps);
  const loops = new LoopDetector(effective.loops, emit);
  if (resumed) restoreConversation(resumed, context, loops);
  const redact = (content: Content) => redactContent(content, session.redactor);
  return {
    start: resumed
      ? { ...resumed.rebuilt.start, history: redactedHistory(resumed.rebuilt.start.history, redact) }
      : { history: startHistory(openingMessage(open)) },
    leftovers: { denials: denials.all, pending: calls.deferred.requests },
    agent: {
      ...turnDeps,
      // Servers may change their tools during the run.
      get tools() {
        return tools.offer.declarations();
      },
      context,
      loops,
      runCalls: calls.runCalls,
      endAfter: () => denials.outcome() ?? calls.deferred.outcome(session.transcript),
      answer: answerWithNotices({ budget, emit, respond: responseContent, before: resumed?.rebuilt.notices }),
      review: redactedReview(review, redact),
    },
  };
}
