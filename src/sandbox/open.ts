import type { Launcher, RunCommand } from '../protocol/process.js';
import { Problem } from '../protocol/problem.js';
import type { SandboxMode } from '../protocol/sandbox.js';
import type { SandboxState } from '../protocol/sandbox-state.js';
import { sandboxedCommands, runCommand } from './local.js';
import type { Bubblewrap } from './bubblewrap/bubblewrap.js';
import { exposureOf } from './exposure.js';
import type { OpenedSandbox } from './bubblewrap/open-sandbox.js';
import { probeFor } from './probe.js';
import type { SandboxRequest } from './request.js';

/** How the programs of a run are started. */
export interface Programs {
  readonly state: SandboxState;
  readonly runCommand: RunCommand;
  /** Undefined if programs are started without a sandbox. */
  readonly launcher: Launcher | undefined;
  /** Whether any can be started. */
  readonly canStart: boolean;
  /** Why no program is started, although the policy would allow some. */
  readonly denied?: string;
  /** A warning to show once the run has begun. */
  readonly warning?: string;
  close(): Promise<void>;
}

/** Opens the sandbox that a run needs. Throws a Problem if it is required and not available. */
export async function openPrograms(request: SandboxRequest): Promise<Programs> {
  const { mode } = request;
  if (mode !== 'required' && !request.startsPrograms) return none(mode, 'this run starts no programs');
  if (mode === 'off') return unconfined(request, mode, `it is turned off by ${request.offBy}`);
  const bubblewrap = await (request.probed ?? probeFor(request.workspace));
  if ('reason' in bubblewrap) {
    if (mode === 'auto') return unconfined(request, mode, bubblewrap.reason);
    throw missingSandbox(bubblewrap.reason);
  }
  const { networkFault, ...programs } = sandboxed(request, mode, bubblewrap);
  const fault = mode === 'required' ? await networkFault() : undefined;
  if (fault !== undefined) throw missingSandbox(fault);
  return programs;
}

function missingSandbox(reason: string): Problem {
  return new Problem('tool_infra_error', 'sandbox', `the policy requires a sandbox: ${reason}`, {
    hint: 'docs/security.md explains what it needs; `sandbox: {mode: auto}` continues without it.',
  });
}

/** The parts of the sandbox are loaded when needed: many runs start nothing. */
function sandboxed(request: SandboxRequest, mode: SandboxMode, bubblewrap: Bubblewrap) {
  let opened: Promise<OpenedSandbox> | undefined;
  const open = async () => {
    opened ??= import('./bubblewrap/open-sandbox.js').then(({ openSandbox }) =>
      openSandbox(request, bubblewrap),
    );
    return opened;
  };
  const launcher: Launcher = {
    command: async (...how) => (await open()).sandbox.command(...how),
    server: async (...how) => (await open()).sandbox.server(...how),
    ended: async () => (await opened)?.sandbox.ended(),
    lost: request.onLost,
  };
  const network = request.untrusted ? '; no network, because the run has untrusted input' : '';
  const state = {
    mode,
    active: true,
    backend: 'bubblewrap',
    reason: `bubblewrap works here${network}`,
  } as const;
  return {
    state,
    runCommand: sandboxedCommands(launcher),
    launcher,
    networkFault: async () => (await open()).networkFault(),
    canStart: true,
    close: async () => (await opened?.catch(() => undefined))?.sandbox.close(),
  };
}

/** Programs without a sandbox. Untrusted input is not worth that risk. */
function unconfined(request: SandboxRequest, mode: SandboxMode, reason: string): Programs {
  if (request.untrusted) {
    const rule = 'the run has untrusted input, so programs run only in a sandbox without network';
    const denied = `${rule}, and there is none: ${reason}`;
    return { ...none(mode, denied), denied };
  }
  const exposure = exposureOf(request);
  const names = exposure ? `; programs may read ${exposure.names}` : '';
  const places = exposure ? `. As the same user they may read ${exposure.places}` : '';
  const isWarned = exposure !== undefined || mode === 'auto';
  return {
    state: { mode, active: false, backend: null, reason: `${reason}${names}` },
    runCommand,
    launcher: undefined,
    canStart: true,
    ...(isWarned && { warning: `programs run without a sandbox: ${reason}${places}` }),
    close: async () => {},
  };
}

/** No program is expected to start. Any that is gets refused. */
function none(mode: SandboxMode, reason: string): Programs {
  const refuse = async (): Promise<never> => {
    throw new Error(reason);
  };
  return {
    state: { mode, active: false, backend: null, reason },
    runCommand: async () => ({ type: 'not_started', message: reason }),
    launcher: { command: refuse, server: refuse, ended: async () => {}, lost: () => {} },
    canStart: false,
    close: async () => {},
  };
}
