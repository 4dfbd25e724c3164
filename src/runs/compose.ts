import type { Budget } from '../agent/budget.js';
import { ContextWindow } from '../agent/context-window.js';
import { LoopDetector } from '../agent/loop-detector.js';
import { startHistory } from '../agent/history.js';
import type { AgentDeps, AgentStart } from '../agent/loop.js';
import { systemInstruction } from '../agent/prompt.js';
import { formInstruction } from '../agent/review.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { uselessPolicies } from '../policy/allows-nothing.js';
import type { Part } from '../protocol/content.js';
import type { RunEvent } from '../protocol/event.js';
import type { Reviewer } from '../protocol/review.js';
import type { Task } from '../protocol/task.js';
import { openUses, recall } from '../resume/restore.js';
import { responseContent } from '../scheduler/response.js';
import type { Proof } from '../success/prepare.js';
import { boundsOf } from './bounds.js';
import { composeTools, type ComposedTools } from './compose-tools.js';
import { initEvent } from './init-event.js';
import { windowIn } from '../providers/model-keys.js';
import { openingOf, type Opening } from './opening.js';
import { outputSchema, readOutputSchema, type OutputSchema } from '../agent/output-schema.js';
import { redactContent } from '../transcript/redact-content.js';
import type { ResumedRun } from './resumed.js';
import { openRunModel, type RunModel } from './run-model.js';
import type { RunParts } from './run-parts.js';
import { taskOf, type RunTask } from './run-task.js';
import { lookAhead } from './sandbox.js';
import type { Leftovers, Session } from '../transcript/session.js';
import type { RunRequest } from './settings.js';
import { proofFor, reviewerFor } from './success.js';

export interface Composed {
  readonly start: AgentStart;
  readonly agent: AgentDeps;
  readonly leftovers: Required<Pick<Leftovers, 'denials' | 'pending'>>;
  close(): Promise<void>;
  /** Called once nothing of the run goes on any more. */
  readonly conclude: Proof['conclude'];
}

/** Puts the parts of a run together, and tells the transcript what they are. */
export async function compose(request: RunRequest, parts: RunParts): Promise<Composed> {
  const probed = lookAhead(request, parts);
  const model = await openRunModel(request, parts);
  const { opened } = model;
  // From here on nobody sees a secret of the user's, the model included.
  const task = await taskOf(request, parts, opened);
  const { untrusted } = task;
  const proof = await proofFor(request, parts);
  const { confinement, ...bounds } = boundsOf(request, parts, { proof, untrusted });
  const opening = task.isNew ? openingOf(bounds.named, untrusted, parts.session.redactor.text) : NO_OPENING;
  const output = await outputOf(request, parts.resumed);
  const { changes } = proof;
  const verifies = !request.dryRun && (proof.told.success?.verify.length ?? 0) > 0;
  const tools = await composeTools(request, parts, {
    ...{ ...bounds, budget: model.budget, denials: model.denials },
    ...{ opened, untrusted, probed, changes, verifies },
  });
  confinement.active = tools.programs.state.active;
  model.whileThinking(() => tools.offer.tools().forEach((tool) => tool.prepare()));
  const close = async () => {
    opened.provider.close();
    opened.lookUps?.close();
    await tools.close();
  };
  const system = systemFor(request, parts, tools, output);
  const built = { request, parts, model, task, opening, output, proof, tools, system };
  tell(built);
  if (tools.problem) {
    await close();
    throw tools.problem;
  }
  const review = await reviewerFor(parts, proof, { output, shell: tools.shell });
  return { ...agentOf(built, redacting(review, parts.session.redactor)), close, conclude: proof.conclude };
}

const NO_OPENING: Opening = { parts: [], warnings: [] };

/** What there is of a run once its parts are open. */
interface Built {
  readonly request: RunRequest;
  readonly parts: RunParts;
  readonly model: RunModel;
  readonly task: RunTask;
  readonly opening: Opening;
  readonly output: OutputSchema | undefined;
  readonly proof: Proof;
  readonly tools: ComposedTools;
  readonly system: string;
}

function systemFor(
  { dryRun = false }: RunRequest,
  { workspace, session }: RunParts,
  { allowed }: ComposedTools,
  output: OutputSchema | undefined,
): string {
  const instruction = systemInstruction({ workspace, allowed, dryRun });
  return session.redactor.text(output ? `${instruction}\n\n${formInstruction(output.schema)}` : instruction);
}

/** Begins the transcript. Of a run that cannot go on only its start is told. */
function tell({ request, parts, model, task, opening, output, proof, tools, system }: Built): void {
  const { session, effective, resumed } = parts;
  const { offer, sources, programs, problem } = tools;
  const told = {
    system,
    tools: offer.tools().map(({ name }) => name),
    mcp_servers: sources.servers,
    sandbox: programs.state,
    ...(output && { output_schema: output.schema }),
    ...proof.told,
  };
  const begin = [
    initEvent(request, parts, model.opened, told),
    ...(programs.warning === undefined ? [] : [warning('sandbox')(programs.warning)]),
  ];
  if (problem) {
    session.emitTogether(begin);
    return;
  }
  const warnings = [
    ...opening.warnings.map(warning('context')),
    ...uselessPolicies(effective).map(warning('policy')),
  ];
  // Whoever finds the one finds the other: a run without its task could not be resumed.
  const first = resumed ? [] : [taskEvent(task, messageOf({ task, opening }))];
  session.emitTogether([...begin, ...warnings, ...first]);
  if (resumed) session.remind(openUses(resumed));
}

function warning(kind: string) {
  return (message: string) => ({ type: 'error', severity: 'warning', class: kind, message }) as const;
}

function messageOf({ task, opening }: Pick<Built, 'task' | 'opening'>): readonly Part[] {
  return [...task.parts, ...opening.parts];
}

function agentOf(built: Built, review: Reviewer): Pick<Composed, 'start' | 'leftovers' | 'agent'> {
  const { request, parts, model, tools, system } = built;
  const { effective, session, signal, resumed } = parts;
  const { opened, budget, denials } = model;
  const { offer, deferred, runCalls } = tools;
  const { provider } = opened;
  const turnDeps = {
    provider,
    system,
    tools: offer.declarations(),
    budget,
    emit: session.emit,
    includeThoughts: request.include?.thoughts ?? false,
    signal,
  };
  const window = () => windowIn(effective.modelKeys, provider.model);
  const context = new ContextWindow({ window, compressAt: effective.compressAt }, turnDeps);
  const loops = new LoopDetector(effective.loops, session.emit);
  if (resumed) recall(resumed, context, loops);
  return {
    start: resumed
      ? withoutSecrets(resumed.rebuilt.start, session.redactor)
      : { history: startHistory(messageOf(built)) },
    leftovers: { denials: denials.all, pending: deferred.requests },
    agent: {
      ...turnDeps,
      // Servers may change their tools on the way.
      get tools() {
        return offer.declarations();
      },
      context,
      loops,
      runCalls,
      endAfter: () => denials.outcome() ?? deferred.outcome(session.transcript),
      answer: answerer(budget, session, resumed?.rebuilt.notices),
      review,
    },
  };
}

/** What was recorded elsewhere may hold what is secret here. The model's own words stay as they are. */
function withoutSecrets(start: AgentStart, redactor: Redactor): AgentStart {
  const history = start.history.map((content) =>
    content.role === 'user' ? redactContent(content, redactor) : content,
  );
  return { ...start, history };
}

/** What is wrong with an answer is told in the words of others, too: those of commands and of a schema. */
function redacting(review: Reviewer, redactor: Redactor): Reviewer {
  return async (response) => {
    const verdict = await review(response);
    return verdict.type === 'again' ? { ...verdict, ask: redactContent(verdict.ask, redactor) } : verdict;
  };
}

/** Answers the calls of a turn, with what there is to say about limits. `before` was said about the first of them. */
function answerer(budget: Budget, session: Session, before: readonly string[] = []): AgentDeps['answer'] {
  let said = before;
  return (results) => {
    const notices = budget.notices();
    for (const notice of notices) session.emit(notice);
    const messages = [...said, ...notices.map(({ message }) => message)];
    said = [];
    return responseContent(results, messages);
  };
}

async function outputOf({ outputSchema: path }: RunRequest, resumed: ResumedRun | undefined) {
  const schema = resumed?.recorded.init.output_schema;
  if (schema) return outputSchema(schema);
  return path === undefined ? undefined : readOutputSchema(path);
}

/** The first message, as the user wrote it and as the model gets it. */
function taskEvent({ text, untrusted }: Task, parts: readonly Part[]): RunEvent {
  return { type: 'message', role: 'user', content: text, parts, ...(untrusted && { untrusted }) };
}
