import type { Budget } from '../agent/budget.js';
import { chargedLookUps } from '../agent/charged-look-ups.js';
import { VERSION } from '../lib/version.js';
import type { NamedFiles } from '../policy/named-files.js';
import { rootCommands, shellRisk } from '../policy/shell/lazy.js';
import { TOOL_NAMES } from '../policy/tool-names.js';
import { withoutPrograms } from '../policy/without-programs.js';
import type { Policy } from '../protocol/decision.js';
import { failure } from '../protocol/outcome.js';
import type { Problem } from '../protocol/problem.js';
import type { Tool } from '../protocol/tool.js';
import { lookUpsOf } from '../providers/look-ups.js';
import { childEnvironment, runnerFiles } from '../sandbox/environment.js';
import type { GuardedPrograms } from '../sandbox/programs.js';
import type { SandboxRequest } from '../sandbox/request.js';
import { cannotVerifyProblem } from '../success/conditions-asked.js';
import type { UserShell } from '../success/settings.js';
import { builtinTools } from '../tools/builtin.js';
import { createOffer, type Offer } from '../tools/offer.js';
import { createRegistry, type Registry } from '../tools/registry.js';
import type { Sources } from '../tools/sources.js';
import { unattended } from '../tools/unattended.js';
import type { OpenedModel, RunBase } from './run-base.js';
import { openRunPrograms } from './sandbox.js';
import type { RunRequest } from './run-request.js';
import { askSources } from './sources.js';
import { warning } from '../protocol/warning.js';

export interface ToolParts {
  readonly policy: Policy;
  readonly named: NamedFiles;
  readonly budget: Budget;
  readonly opened: OpenedModel;
  /** Whether the user's own commands run at the end. */
  readonly verifies: boolean;
  /** Something in the run is untrusted. */
  readonly untrusted: boolean;
  readonly probed: SandboxRequest['probed'];
}

export interface ComposedTools {
  readonly offer: Offer;
  /** Decides about their calls. */
  readonly policy: Policy;
  /** The sources of external tools. */
  readonly sources: Sources;
  readonly programs: GuardedPrograms;
  /** How the user's own command lines are run. */
  readonly shell: UserShell;
  /** Why the run cannot go on, if so. */
  readonly problem: Problem | undefined;
  close(): Promise<void>;
}

/** The tools of a run, and the programs behind them. */
export async function composeTools(
  request: RunRequest,
  base: RunBase,
  toolParts: ToolParts,
): Promise<ComposedTools> {
  const { effective, session, signal } = base;
  const own = await ownToolsOf(request);
  const programs = await programsFor(request, base, toolParts);
  const { denied } = programs;
  const policy = denied === undefined ? toolParts.policy : withoutPrograms(toolParts.policy, denied);
  const registry = createRegistry(openTools(request, base, { ...toolParts, policy }, programs));
  if (own.length > 0) registry.replace('own', own);
  const onWarning = (message: string) => session.emit(warning('tool_source', message));
  const sources = await sourcesFor(request, base, { registry, programs, onWarning });
  const close = async () => {
    await sources.close();
    await programs.close();
  };
  // Cancelled meanwhile: nobody else would close it.
  if (signal.aborted) await close();
  // Searching is done by the provider.
  const canSearch = lookUpsOf(toolParts.opened).ground !== undefined;
  const offer = createOffer(registry, policy, {
    isPossible: ({ traits }) => canSearch || traits?.needs !== 'web search',
    redact: session.redactor.value,
    onWarning,
  });
  const { timeoutMs, idleTimeoutMs } = effective.shell;
  const environment = unattended(childEnvironment(request.variables, effective.shell));
  const shell = { runCommand: programs.runCommand, environment, timeoutMs, idleTimeoutMs };
  const cannotVerify = toolParts.verifies && denied !== undefined ? cannotVerifyProblem(denied) : undefined;
  return { offer, policy, sources, programs, shell, problem: sources.problem ?? cannotVerify, close };
}

/** Tools of the program that starts the run. Names that policies know must mean the built-in tools. */
async function ownToolsOf({ tools = [] }: RunRequest): Promise<readonly Tool[]> {
  if (tools.length === 0) return [];
  const { ownTools } = await import('../tools/own-tool.js');
  return ownTools(tools, TOOL_NAMES);
}

/** How the programs of the run are started. */
function programsFor(
  { variables, sandbox }: RunRequest,
  { workspace, effective, session, signal, end }: RunBase,
  { policy, verifies, untrusted, probed }: ToolParts,
): Promise<GuardedPrograms> {
  return openRunPrograms({
    ...{ workspace, effective, policy, variables, verifies, untrusted, probed, signal },
    flag: sandbox,
    reserved: [session.outputs],
    protectedFiles: runnerFiles(variables),
    onNetwork: (decision) => session.emit({ type: 'network_decision', ...decision }),
    onWarning: (message) => session.emit(warning('sandbox', message)),
    onLost: (message) => end(failure('tool_infra_error', 'sandbox', message)),
  });
}

interface SourceParts {
  readonly registry: Registry;
  readonly programs: GuardedPrograms;
  readonly onWarning: (message: string) => void;
}

async function sourcesFor(
  { variables, log }: RunRequest,
  { workspace, effective, session, signal }: RunBase,
  { registry, programs, onWarning }: SourceParts,
): Promise<Sources> {
  const redacted = (line: string) => log?.(session.redactor.text(line));
  const surroundings = { workspace, variables, log: redacted, onTools: registry.replace, onWarning };
  try {
    return await askSources(effective, programs, surroundings, signal);
  } catch (error) {
    await programs.close();
    throw error;
  }
}

function openTools(
  request: RunRequest,
  { workspace, effective: { shell }, limits, session }: RunBase,
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
