import { parseSize } from '../lib/size.js';
import type { SandboxLimits, SandboxMode } from '../protocol/sandbox.js';

/** What a policy says about the sandbox. Paths are as they are written. */
export interface SandboxKeys {
  readonly mode?: SandboxMode;
  readonly bindRo: readonly string[];
  readonly bindRw: readonly string[];
  readonly limits: SandboxLimits;
}

export interface RawSandbox {
  readonly mode?: SandboxMode;
  readonly bind_ro?: readonly string[];
  readonly bind_rw?: readonly string[];
  readonly limits?: { readonly processes?: number; readonly memory?: string; readonly file_size?: string };
}

export function sandboxIn(raw: RawSandbox | undefined): SandboxKeys | undefined {
  if (!raw) return undefined;
  const { mode, bind_ro = [], bind_rw = [], limits = {} } = raw;
  const { processes, memory, file_size } = limits;
  return {
    ...(mode && { mode }),
    bindRo: bind_ro,
    bindRw: bind_rw,
    limits: {
      ...(processes !== undefined && { processes }),
      ...(memory !== undefined && { memory: parseSize(memory) as number }),
      ...(file_size !== undefined && { file_size: parseSize(file_size) as number }),
    },
  };
}

export function layerSandbox(
  base: SandboxKeys | undefined,
  over: SandboxKeys | undefined,
): SandboxKeys | undefined {
  if (!base || !over) return over ?? base;
  return {
    ...base,
    ...over,
    bindRo: [...new Set([...base.bindRo, ...over.bindRo])],
    bindRw: [...new Set([...base.bindRw, ...over.bindRw])],
    limits: { ...base.limits, ...over.limits },
  };
}
