import { Budget } from '../agent/budget.js';
import { ContextWindow } from '../agent/context-window.js';
import { costOf } from '../agent/cost.js';
import { LoopDetector } from '../agent/loop-detector.js';
import { startHistory } from '../agent/history.js';
import type { AgentDeps, AgentStart } from '../agent/loop.js';
import { systemInstruction } from '../agent/prompt.js';
import { formInstruction } from '../agent/review.js';
import { realPath } from '../lib/real-path.js';
import type { Redactor } from '../lib/redact/redactor.js';
import type { Part } from '../protocol/content.js';
import type { RunEvent } from '../protocol/event.js';
import { configProblem } from '../protocol/problem.js';
import type { Reviewer } from '../protocol/review.js';
import type { Proof } from '../success/prepare.js';
import type { Task } from '../protocol/task.js';
import { Refusals } from '../scheduler/refusals.js';
import { responseContent } from '../scheduler/response.js';
import { admitted } from './admission.js';
import { watchApprover } from './approver.js';
import { composeTools } from './compose-tools.js';
import { initEvent } from './init-event.js';
import { openModel, type ModelWishes } from './model.js';
import { checkPriced, countable, pricesOf, settingsIn, windowIn } from './model-settings.js';
import { openingOf } from './opening.js';
import { outputSchema, readOutputSchema } from './output-schema.js';
import { redactContent, redactParts } from './redact-content.js';
import { openUses, recall, restore, saidIn } from '../resume/restore.js';
import type { ResumedRun } from './resumed.js';
import type { OpenedModel, RunParts } from './run-parts.js';
import { lookAhead } from './sandbox.js';
import type { Leftovers, Session } from './session.js';
import { proofFor, reviewerFor } from './success.js';
import { dialectFor, enginesWithRemedies, filesNamedIn, uselessPolicies, variablesFor } from './policies.js';
import { runnerFiles, type RunRequest } from './settings.js';

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
  const { workspace, effective, limits, session, signal, resumed } = parts;
  const refusals = new Refusals(limits.denials);
  const budget = new Budget({
    limits,
    pricesOf: (answered) => pricesOf(effective.modelKeys, opened.provider.model, answered),
    elapsedMs: () => session.clock.elapsedMs,
    denials: () => refusals.denials.length,
  });
  // While the model thinks, its tools are made ready.
  const prepareTools = () => {
    offer.tools().forEach((tool) => tool.prepare());
  };
  const probed = lookAhead(request, parts);
  const opened: OpenedModel = await openModelFor(request, parts, budget, prepareTools);
  const { provider } = opened;
  if (resumed) restore(resumed, budget, refusals);

  const given = await request.readTask();
  const asked = given ?? resumed?.task ?? opened.recordedTask;
  if (!asked)
    throw configProblem('prompt', 'no prompt', { hint: 'Give one with -p, --prompt-file, or on stdin.' });

  // From here on nobody sees a secret of the user's, the model included.
  const { redactor } = session;
  // A recorded model says again what untrusted text made it say.
  const untrusted = (asked.untrusted || opened.recordedTask?.untrusted) ?? false;
  const task = { ...asked, untrusted, parts: redactParts(asked.parts, redactor) };

  const proof = await proofFor(request, parts);
  const approver = watchApprover(effective.ruleSets, workspace);
  const ownFiles = [
    ...session.own,
    ...proof.own,
    ...approver.files,
    ...runnerFiles(request.variables),
    ...(request.protect ?? []),
  ];
  let isSandboxed = false;
  const place = {
    workspace,
    writeProtected: ownFiles.map((path) => realPath(path)),
    home: request.variables['HOME'],
    untrusted,
    dialect: dialectFor(effective.shell, request.variables['PATH']),
    variable: variablesFor(effective.shell, request.variables),
    hiddenBySandbox: () => isSandboxed,
  };
  const policy = enginesWithRemedies(effective.ruleSets, place);
  const named = filesNamedIn(effective.ruleSets, place);
  // A recorded message has them in it already.
  const opening = given ? openingOf(named, place.untrusted, redactor.text) : { parts: [], warnings: [] };
  const output = await outputOf(request, resumed);
  const { changes } = proof;
  const toolParts = { policy, named, budget, refusals, approver, opened, untrusted, probed, changes };
  const verifies = !request.dryRun && (proof.told.success?.verify.length ?? 0) > 0;
  const composed = await composeTools(request, parts, { ...toolParts, verifies });
  const { offer, runCalls, deferred, sources, shell, programs } = composed;
  isSandboxed = programs.state.active;
  const close = async () => {
    provider.close();
    opened.lookUps?.close();
    await composed.close();
  };

  const instruction = systemInstruction({
    workspace,
    allowed: composed.allowed,
    dryRun: request.dryRun ?? false,
  });
  const system = redactor.text(output ? `${instruction}\n\n${formInstruction(output.schema)}` : instruction);

  const tools = offer.tools().map(({ name }) => name);
  const schema = output && { output_schema: output.schema };
  const told = {
    system,
    tools,
    mcp_servers: sources.servers,
    sandbox: programs.state,
    ...schema,
    ...proof.told,
  };
  const warning = (kind: string) => (message: string) =>
    ({ type: 'error', severity: 'warning', class: kind, message }) as const;
  const begin = [
    initEvent(request, parts, opened, told),
    ...(programs.warning === undefined ? [] : [warning('sandbox')(programs.warning)]),
  ];
  if (composed.problem) {
    session.emitTogether(begin);
    await close();
    throw composed.problem;
  }
  const warnings = [
    ...opening.warnings.map(warning('context')),
    ...uselessPolicies(effective).map(warning('policy')),
  ];
  const message = [...task.parts, ...opening.parts];
  // Whoever finds the one finds the other: a run without its task could not be resumed.
  session.emitTogether([...begin, ...warnings, ...(resumed ? [] : [taskEvent(task, message)])]);
  if (resumed) session.remind(openUses(resumed));

  const review = redacting(await reviewerFor(parts, proof, { output, shell }), redactor);

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
    start: resumed ? withoutSecrets(resumed.rebuilt.start, redactor) : { history: startHistory(message) },
    leftovers: { denials: refusals.denials, pending: deferred.requests },
    close,
    conclude: proof.conclude,
    agent: {
      ...turnDeps,
      // Servers may change their tools on the way.
      get tools() {
        return offer.declarations();
      },
      context,
      loops,
      runCalls,
      endAfter: () => refusals.outcome() ?? deferred.outcome(session.transcript),
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

function openModelFor(
  request: RunRequest,
  parts: RunParts,
  budget: Budget,
  onSent: () => void,
): Promise<OpenedModel> {
  const { effective, limits, session, resumed } = parts;
  return openModel(request, {
    model: effective.model,
    fallback: effective.fallback,
    webModel: effective.webModel,
    settingsOf: (model) => {
      checkPriced(limits, model, pricesOf(effective.modelKeys, model));
      return settingsIn(effective.modelKeys, model);
    },
    retries: {
      retryTimeMs: limits.retry_time_ms,
      charge: (usage, model) => {
        const cost_usd = budget.chargeTokens(usage, model);
        const affordable = budget.exceeded() === undefined;
        return { affordable, ...(cost_usd !== undefined && { cost_usd }) };
      },
      now: () => session.clock.elapsedMs,
      leavesWaiting: request.admit !== undefined,
    },
    counted: (provider) => countable(provider, limits, session.emit),
    emit: session.emit,
    said: resumed && saidIn(resumed),
    onSent,
    beforeSending: () => session.check(),
    gated: gateOf(request, parts),
  });
}

/** Requests of a run that shares its account with others wait for their turn. */
function gateOf({ admit }: RunRequest, { effective, session, end }: RunParts): ModelWishes['gated'] {
  if (!admit) return (provider) => provider;
  return (provider) =>
    admitted(provider, {
      admit,
      clock: session.clock,
      costOf: (usage, answered) => {
        const prices = pricesOf(effective.modelKeys, provider.model, answered);
        return prices && costOf(usage, prices);
      },
      end,
    });
}

/** The first message, as the user wrote it and as the model gets it. */
function taskEvent({ text, untrusted }: Task, parts: readonly Part[]): RunEvent {
  return { type: 'message', role: 'user', content: text, parts, ...(untrusted && { untrusted }) };
}
