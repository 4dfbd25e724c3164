import { explain } from '../policy/explain.js';
import { openChecker, type CheckRequest } from './check-policy.js';

/** A decision in words, and the decision itself. */
export async function explainCall(request: CheckRequest, tool: string, args: unknown) {
  const checked = await (await openChecker(request)).checkDetailed(tool, args);
  const line = checked.runs !== undefined && { line: (args as { command: string }).command };
  return { decision: checked.decision, text: explain({ tool, ...checked, ...line }) };
}
