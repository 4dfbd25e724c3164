import { join } from 'node:path';
import type { Budget } from '../agent/budget.js';
import { chargedLookUps } from '../agent/charged-look-ups.js';
import { createAsk } from '../approvals/ask.js';
import { callbackApprover } from '../approvals/callback.js';
import { Deferred, NO_ANSWERS } from '../approvals/defer.js';
import { Grants } from '../approvals/grants.js';
import { sha256 } from '../lib/ids.js';
import { shownPath } from '../lib/real-path.js';
import type { Redactor } from '../lib/redact/redactor.js';
import { absentTool } from '../policy/foreign.js';
import type { NamedFiles } from '../policy/named-files.js';
import { rootCommands, shellRisk } from '../policy/shell/late.js';
import { TOOL_NAMES } from '../policy/tool-names.js';
import type { Ask } from '../protocol/approval.js';
import type { Policy } from '../protocol/decision.js';
import { failure } from '../protocol/outcome.js';
import { Problem } from '../protocol/problem.js';
import type { RunCommand } from '../protocol/process.js';
import type { Tool } from '../protocol/tool.js';
import { lookUpsOf } from '../providers/look-ups.js';
import type { Denials } from '../scheduler/denials.js';
import { resumeCalls, type PastCall } from '../resume/calls.js';
import { createScheduler, type Scheduler } from '../scheduler/scheduler.js';
import { withoutSecrets } from '../scheduler/without-secrets.js';
import type { UserShell } from '../success/settings.js';
import { builtinTools } from '../tools/builtin.js';
import { createRegistry } from '../tools/registry.js';
import type { Sources } from '../tools/sources.js';
import { unattended } from '../tools/unattended.js';
import type { WatchedApprover } from '../approvals/watched-approver.js';
import type { ChangeWatch } from '../success/changes/watch.js';
import { pastOf, withoutRepeats } from '../resume/restore.js';
import { answersOf, grantsOf } from './resumed.js';
import { createOffer, type Offer } from '../tools/offer.js';
import { redactEvent } from '../transcript/redact-event.js';
import type { GuardedPrograms } from '../sandbox/programs.js';
import { openPrograms } from './sandbox.js';
import type { OpenedModel, RunParts } from './run-parts.js';
import type { SandboxRequest } from '../sandbox/request.js';
import { childEnvironment, runnerFiles } from '../sandbox/environment.js';
import type { RunRequest } from './settings.js';
import { askSources } from './sources.js';
import { VERSION } from '../lib/version.js';
import { withoutPrograms } from '../policy/without-programs.js';

export interface ToolParts {
  readonly policy: Policy;
  readonly named: NamedFiles;
  readonly budget: Budget;
  readonly denials: Denials;
  readonly approver: WatchedApprover;
  readonly opened: OpenedModel;
  /** Whether commands of the user's own are run at the end. */
  readonly verifies: boolean;
  /** Something in the run is untrusted. */
  readonly untrusted: boolean;
  readonly probed: SandboxRequest['probed'];
  /** Told of calls that may change something. */
  readonly changes: ChangeWatch;
}

export interface ComposedTools {
  readonly offer: Offer;
  /** What is allowed, in a sentence for the model. */
  readonly allowed: string;
  readonly runCalls: Scheduler['run'];
  /** Calls that wait for an answer. */
  readonly deferred: Deferred;
  /** Those who have brought tools from elsewhere. */
  readonly sources: Sources;
  readonly programs: GuardedPrograms;
  /** Why the run cannot go on, if so. */
  readonly problem: Problem | undefined;
  close(): Promise<void>;
  readonly shell: UserShell;
}

/** The tools of a run, and who decides about and runs their calls. */
export async function composeTools(
  request: RunRequest,
  parts: RunParts,
  toolParts: ToolParts,
): Promise<ComposedTools> {
  const { opened } = toolParts;
  const { effective, workspace, session, signal } = parts;
  const own = await ownToolsOf(request);
  const programs = await programsFor(request, parts, toolParts);
  const { denied } = programs;
  const policy = denied === undefined ? toolParts.policy : withoutPrograms(toolParts.policy, denied);
  const decided = { ...toolParts, policy };
  const registry = createRegistry(openTools(request, parts, decided, programs));
  if (own.length > 0) registry.replace('own', own);
  const { shell } = effective;
  const surroundings = {
    workspace,
    variables: request.variables,
    log: (line: string) => request.log?.(session.redactor.text(line)),
    onTools: registry.replace,
    onWarning: (message: string) =>
      session.emit({ type: 'error', severity: 'warning', class: 'tool_source', message }),
  };
  const sources = await askSources(effective, programs, surroundings, signal).catch(
    async (error: unknown) => {
      await programs.close();
      throw error;
    },
  );
  const close = async () => {
    await sources.close();
    await programs.close();
  };
  // Whoever waited for us is gone by now.
  if (signal.aborted) await close();
  // Searching is an ability of the provider.
  const canSearch = lookUpsOf(opened).ground !== undefined;
  const offer = createOffer(registry, policy, {
    isPossible: ({ traits }) => canSearch || traits?.needs !== 'web search',
    redact: session.redactor.value,
    onWarning: surroundings.onWarning,
  });
  const deferred = new Deferred();
  const ask = askFor(request, parts, decided, { deferred, runCommand: programs.runOutside });
  const { run } = schedulerFor(request, parts, decided, { offer, ask });
  const { resumed } = parts;
  const runCalls = resumed
    ? resumeCalls(run, (call) => cleanPast(pastOf(resumed, call), session.redactor), session.emit)
    : run;
  const userShell = {
    runCommand: programs.runCommand,
    environment: unattended(childEnvironment(request.variables, shell)),
    timeoutMs: shell.timeoutMs,
    idleTimeoutMs: shell.idleTimeoutMs,
  };
  const problem = sources.problem ?? verifyProblem(toolParts, programs);
  return {
    offer,
    allowed: policy.summary,
    sources,
    runCalls,
    deferred,
    shell: userShell,
    programs,
    problem,
    close,
  };
}

/** What the program brings that starts the run. Names that policies know mean the tools that they mean. */
async function ownToolsOf({ tools = [] }: RunRequest): Promise<readonly Tool[]> {
  if (tools.length === 0) return [];
  const { ownTools } = await import('../tools/own-tool.js');
  return ownTools(tools, TOOL_NAMES);
}

/** A run whose end could not be judged is not begun. */
function verifyProblem({ verifies }: ToolParts, { denied }: GuardedPrograms): Problem | undefined {
  if (denied === undefined || !verifies) return undefined;
  return new Problem('tool_infra_error', 'sandbox', `verify commands cannot be run: ${denied}`, {
    hint: 'docs/security.md explains what a sandbox needs.',
  });
}

/** How the programs of the run are started. */
function programsFor(
  { variables, sandbox }: RunRequest,
  { workspace, effective, session, signal, end }: RunParts,
  { policy, verifies, untrusted, probed }: ToolParts,
): Promise<GuardedPrograms> {
  return openPrograms({
    workspace,
    effective,
    policy,
    variables,
    flag: sandbox,
    verifies,
    untrusted,
    probed,
    reserved: [session.outputs],
    protectedFiles: runnerFiles(variables),
    signal,
    onNetwork: (decision) => session.emit({ type: 'network_decision', ...decision }),
    onWarning: (message) => session.emit({ type: 'error', severity: 'warning', class: 'sandbox', message }),
    onLost: (message) => end(failure('tool_infra_error', 'sandbox', message)),
  });
}

/** What was recorded elsewhere may hold what is secret here. */
function cleanPast(past: PastCall, redactor: Redactor): PastCall {
  return past.type === 'finished' ? { ...past, result: withoutSecrets(past.result, redactor) } : past;
}

/** Who answers where the policy says "ask". */
function askFor(
  request: RunRequest,
  { workspace, session, resumed }: RunParts,
  { policy, approver }: ToolParts,
  { deferred, runCommand }: { readonly deferred: Deferred; readonly runCommand: RunCommand },
): Ask {
  const grants = new Grants();
  if (resumed) for (const grant of grantsOf(resumed)) grants.add(grant);
  return createAsk({
    grants,
    deferred,
    answers: resumed ? answersOf(resumed) : NO_ANSWERS,
    allowed: policy.summary,
    emit: session.emit,
    redact: (request) => redactEvent(request, session.redactor),
    runCommand,
    directory: workspace,
    environment: (command) => childEnvironment(request.variables, command),
    tampered: approver.tampered,
    ...(request.approve && { callback: callbackApprover(request.approve, request.approveTimeoutMs) }),
  });
}

function openTools(
  request: RunRequest,
  { workspace, effective: { shell }, limits, session }: RunParts,
  { policy, named, budget, opened }: ToolParts,
  programs: GuardedPrograms,
): Tool[] {
  const lookUps = lookUpsOf(opened);
  return builtinTools({
    workspace,
    environment: childEnvironment(request.variables, shell),
    runCommand: programs.runCommand,
    shellText: policy.shellText,
    rootCommands,
    shellRisk,
    timeoutMs: shell.timeoutMs,
    idleTimeoutMs: shell.idleTimeoutMs,
    admits: policy.admits,
    outputCap: limits.tool_output,
    memory: named.memory?.real,
    onTodos: (todos) => session.emit({ type: 'todos', todos }),
    web: {
      network: policy.network,
      ground: lookUps.ground && chargedLookUps(lookUps, budget),
      userAgent: `bosun/${VERSION}`,
      outputCap: limits.tool_output,
    },
  });
}

function schedulerFor(
  { include, dryRun = false }: RunRequest,
  { workspace, effective, limits, session, outputRoom, resumed }: RunParts,
  { policy, denials, budget, opened, changes }: ToolParts,
  { offer, ask }: { offer: Offer; ask: Ask },
): Scheduler {
  return createScheduler({
    findTool: offer.find,
    absentTool: (name) => absentTool(effective.ruleSets, name),
    get toolNames() {
      return offer.declarations().map(({ name }) => name);
    },
    policy,
    denials,
    ask,
    dryRun,
    isLost: (call) => opened.isLost(call) || (resumed?.isLost(call) ?? false),
    redactor: session.redactor,
    admitCall: () => budget.admitCall(),
    parallel: limits.parallel,
    changes,
    outputCap: limits.tool_output,
    outputRoom,
    outputPath: (callId) => {
      const path = join(session.outputs, `${fileName(session.redactor.known(callId))}.txt`);
      return { path, shown: shownPath(workspace, path) };
    },
    emit: resumed ? withoutRepeats(resumed, session.emit) : session.emit,
    onState: (tool_id, state) => include?.toolState && session.emit({ type: 'tool_state', tool_id, state }),
    onLive: (tool_id, content) => {
      session.live(content);
      if (include?.toolOutput) session.emit({ type: 'tool_output', tool_id, content });
    },
  });
}

/** A call's id comes from outside; as a file name it must not lead anywhere. */
function fileName(callId: string): string {
  if (/^[\w-]{1,80}$/.test(callId)) return callId;
  return `${callId.replaceAll(/[^\w-]/g, '_').slice(0, 80)}-${sha256(callId).slice(0, 8)}`;
}
