import type {
  Denial,
  PolicyDecisionEvent,
  ResultEvent,
  ToolResultEvent,
  TranscriptLine,
} from '../protocol/event.js';
import type { VerificationEvent } from '../protocol/success.js';
import { checkKey, checksOf, type Check } from './checks.js';
import { Summary } from './summary.js';
import { calledAs } from './call-title.js';

/** A call, as far as reports show it. */
export interface CallRecord {
  readonly id: string;
  /** The tool. */
  readonly name: string;
  /** What it does, for people. */
  readonly title: string;
  readonly turn: number;
  decision?: PolicyDecisionEvent;
  result?: Pick<ToolResultEvent, 'status' | 'error' | 'duration_ms' | 'change' | 'process'>;
}

const TITLE_WIDTH = 300;

/** Events of which the summary keeps all that documents show. */
type PassedOver =
  | 'init'
  | 'thought'
  | 'turn'
  | 'approval_request'
  | 'approval_response'
  | 'tool_start'
  | 'tool_state'
  | 'tool_output'
  | 'network_decision'
  | 'todos'
  | 'compression'
  | 'loop_notice'
  | 'retry'
  | 'limit_notice'
  | 'error'
  | 'result';

/** A run as its reports see it, all parts if it was resumed. Folds one event at a time. */
export class RunRecord {
  readonly summary = new Summary();
  readonly calls = new Map<string, CallRecord>();
  /** The success conditions, each as last checked. */
  readonly verifications = new Map<string, VerificationEvent>();
  /** When it began, in ISO form. */
  started: string | undefined;
  id = '';
  /** What the user asked for. */
  task: string | undefined;

  add(line: TranscriptLine): void {
    this.started ??= line.timestamp;
    this.id = line.session_id;
    // A resumed run has no result yet, whatever was shown before.
    if (line.type === 'init') this.summary.result = undefined;
    this.summary.add(line);
    switch (line.type) {
      case 'message':
        if (line.role === 'user') this.task ??= line.content;
        return;
      case 'tool_use': {
        const { tool_id: id, tool_name: name, turn } = line;
        this.calls.set(id, { id, name, turn, title: calledAs(line, TITLE_WIDTH) });
        return;
      }
      case 'verification':
        this.verifications.set(checkKey(line), line);
        return;
      case 'policy_decision': {
        const call = this.calls.get(line.tool_id);
        if (call) call.decision = line;
        return;
      }
      case 'tool_result': {
        const { status, error, duration_ms, change, process } = line;
        const call = this.calls.get(line.tool_id);
        if (call)
          call.result = {
            status,
            duration_ms,
            ...(error && { error }),
            ...(change && { change }),
            ...(process && { process }),
          };
        return;
      }
      default:
        line.type satisfies PassedOver;
    }
  }

  get result(): ResultEvent | undefined {
    return this.summary.result;
  }

  get checks(): readonly Check[] {
    return checksOf(this.verifications, this.summary.init, this.result);
  }

  /** Denied calls. A run that was killed has not summed them up. */
  get denials(): readonly Denial[] {
    if (this.result) return this.result.denials;
    return [...this.calls.values()].flatMap(({ id, name, decision, result }) => {
      const refused = result?.error?.type === 'policy_denied' || result?.error?.type === 'approval_denied';
      return refused && decision
        ? {
            tool_id: id,
            tool_name: name,
            rule: decision.rule,
            reason: decision.reason,
            ...(decision.remedy && { remedy: decision.remedy }),
          }
        : [];
    });
  }
}
