import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OutputFile } from '../../src/lib/output-file.js';
import type { ToolError } from '../../src/protocol/tool-error.js';
import type { ExecuteContext, Invocation, Tool, ToolReport } from '../../src/protocol/tool.js';

/** Validates a call and runs it, as the scheduler does. */
export async function callTool(
  tool: Tool,
  params: unknown,
  context: Partial<ExecuteContext> = {},
): Promise<ToolReport> {
  const built = await tool.build(params);
  if (!built.ok) return built;
  const nowhere = join(tmpdir(), 'bosun-test-no-output', 'x.txt');
  return built.invocation.execute({
    signal: new AbortController().signal,
    callId: 'c',
    onOutput: () => {},
    openOutput: () => new OutputFile(nowhere, 'x.txt', 40_000),
    ...context,
  });
}

export async function invocationOf(tool: Tool, params: unknown): Promise<Invocation> {
  const built = await tool.build(params);
  if (!built.ok) throw new Error(built.error.message);
  return built.invocation;
}

/** What the model reads of a call that succeeded. */
export function textOf(report: ToolReport): string {
  if (!report.ok) throw new Error(`the call failed with ${report.error.type}: ${report.error.message}`);
  if (typeof report.content !== 'string') throw new Error('the call returned something other than text');
  return report.content;
}

export function errorOf(report: ToolReport): ToolError {
  if (report.ok) throw new Error(`the call succeeded: ${JSON.stringify(report.content)}`);
  return report.error;
}
