import { formatDuration } from '../lib/duration.js';
import { errorMessage } from '../lib/errors.js';
import { orAbort } from '../lib/or-abort.js';
import { plainParameters } from '../lib/plain-schema.js';
import { KINDS } from '../protocol/kind.js';
import type { OwnTool } from '../protocol/own-tool.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import { OWN } from '../protocol/source.js';
import type { ExecuteContext, Tool, ToolReport } from '../protocol/tool.js';
import { foreignTool } from './foreign-tool.js';
import { failedReport } from './files/fs-error.js';

const NAME = /^[A-Za-z_][\w-]{0,63}$/;
const TIMEOUT_MS = 10 * 60_000;

/** The tools of the program that uses Bosun. Throws a Problem if one is invalid. `taken`: other tools' names. */
export function ownTools(declared: readonly OwnTool[], taken: readonly string[]): Tool[] {
  const names = new Set(taken);
  return declared.map((tool) => {
    const made = ownTool(tool, names);
    names.add(tool.name);
    return made;
  });
}

function ownTool(declared: OwnTool, taken: ReadonlySet<string>): Tool {
  const { name, displayName, description, parameters, kind = 'other', timeoutMs = TIMEOUT_MS } = declared;
  if (typeof name !== 'string' || !NAME.test(name))
    throw ownToolProblem(name, 'its name is up to 64 letters, digits, `_` and `-`, a letter first');
  if (taken.has(name)) throw ownToolProblem(name, 'there is a tool of that name already');
  if (typeof description !== 'string' || description.trim() === '')
    throw ownToolProblem(name, 'it has no description');
  if (!KINDS.includes(kind))
    throw ownToolProblem(name, `its kind ${JSON.stringify(kind)} is none of ${KINDS.join(', ')}`);
  if (typeof declared.execute !== 'function') throw ownToolProblem(name, 'it has no execute function');
  if (!(timeoutMs > 0)) throw ownToolProblem(name, `its timeoutMs ${timeoutMs} is not a time`);
  const plain = plainParameters(parameters);
  if (!plain.ok) throw ownToolProblem(name, plain.why);
  return foreignTool({
    name: `${OWN}${name}`,
    displayName: displayName ?? name,
    kind,
    description,
    parameters: plain.schema,
    confirmation: { type: 'info', description: displayName ?? name },
    execute: (params, context) => execute(declared, params, { ...context, timeoutMs }),
  });
}

async function execute(
  tool: OwnTool,
  params: Readonly<Record<string, unknown>>,
  { callId, onOutput, signal, timeoutMs }: ExecuteContext & { readonly timeoutMs: number },
): Promise<ToolReport> {
  const time = AbortSignal.timeout(Math.min(timeoutMs, 2 ** 31 - 1));
  const either = AbortSignal.any([signal, time]);
  try {
    // Changes that the program makes to its arguments may not change what is recorded.
    const own = structuredClone(params);
    const work = (async () => tool.execute(own, { callId, signal: either, onOutput }))();
    return { ok: true, content: resultText(await orAbort(work, either)) };
  } catch (error) {
    if (signal.aborted) return failedReport('cancelled', 'Cancelled: the run was stopped.');
    if (time.aborted) return failedReport('timeout', `It took longer than ${formatDuration(timeoutMs)}.`);
    return failedReport('execution_failed', errorMessage(error));
  }
}

function resultText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '');
  return text === '' ? '(the answer is empty)' : text;
}

function ownToolProblem(name: unknown, why: string): Problem {
  return configProblem('tools', `the tool ${JSON.stringify(name)} cannot be offered: ${why}`);
}
