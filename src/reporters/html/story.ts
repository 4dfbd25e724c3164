import { textOf } from '../../protocol/content.js';
import type {
  Denial,
  PolicyDecisionEvent,
  ToolUseEvent,
  TranscriptLine,
  TurnEvent,
} from '../../protocol/event.js';
import type { VerificationEvent } from '../../protocol/success.js';
import { checkKey } from '../checks.js';
import { callRow, decideRow, finishRow } from './call-row.js';
import { Clock } from './clock.js';
import { Details } from './details.js';
import { noteRow } from './note-row.js';
import type { Row } from './row.js';
import { trimmed, type KeptEvent } from './trim.js';

/** For a call that never ended, its live output is all there is. */
const LIVE_CHARACTERS = 64 * 1024;

interface OpenCall {
  readonly row: Row;
  readonly events: KeptEvent[];
  decision?: PolicyDecisionEvent;
  live: string;
}

/** A turn, and the number of its row. */
export interface StoryTurn {
  readonly index: number;
  readonly turn: Omit<TurnEvent, 'content'>;
}

/** Builds rows from events as they come: one for each call with all its events, and one for each other event. */
export class Story {
  readonly rows: Row[] = [];
  readonly turns: StoryTurn[] = [];
  /** Denied calls, for a run that could not sum them up itself. */
  readonly denials: Denial[] = [];
  /** Success conditions, each as last checked. */
  readonly looked = new Map<string, VerificationEvent>();
  readonly details = new Details();
  readonly clock = new Clock();
  readonly #open = new Map<string, OpenCall>();
  readonly #rowOfCall = new Map<string, Row>();
  readonly #rowOfCheck = new Map<string, Row>();
  #lastSaid = '';

  add(line: TranscriptLine): void {
    const at = this.clock.at(line);
    switch (line.type) {
      case 'tool_use':
        this.#begin(line, at);
        return;
      case 'policy_decision':
      case 'approval_request':
      case 'approval_response':
      case 'tool_start':
      case 'tool_result':
        if (!this.#addToCall(line, at)) this.#note(line, at);
        return;
      case 'tool_output':
        this.#addLive(line.tool_id, line.content);
        return;
      case 'tool_state':
        return;
      case 'turn':
        this.#turn(line, at);
        return;
      case 'message':
        // The turn already has its text.
        if (line.role !== 'assistant' || line.content !== this.#lastSaid) this.#note(line, at);
        return;
      default:
        line.type satisfies OwnRow;
        this.#note(line, at);
    }
  }

  /** Stores rows that still waited for their end. */
  finish(): void {
    for (const call of this.#open.values()) {
      if (call.row.state === 'unfinished') call.row.end = Math.max(call.row.end, this.clock.now);
      this.#close(call);
    }
    this.#open.clear();
  }

  /** The row of the last check of a success condition, by its key. */
  rowOfCheck(key: string): Row | undefined {
    return this.#rowOfCheck.get(key);
  }

  /** Hosts that commands could not reach, each once. */
  get blocked(): readonly Row[] {
    const refused = this.rows.filter(({ kind, state }) => kind === 'note' && state === 'refused');
    return [...new Map(refused.map((row) => [row.text, row])).values()];
  }

  rowOfCall(toolId: string): Row | undefined {
    return this.#rowOfCall.get(toolId);
  }

  #note(line: TranscriptLine, at: number): void {
    const row = noteRow(line, at);
    row.place = this.details.add([trimmed(line)]);
    this.rows.push(row);
    if (line.type === 'verification') {
      this.looked.set(checkKey(line), line);
      this.#rowOfCheck.set(checkKey(line), row);
    }
  }

  #turn(line: TranscriptLine & TurnEvent, at: number): void {
    this.#note(line, at);
    this.#lastSaid = textOf(line.content?.parts ?? []);
    const { content: _content, ...turn } = line;
    this.turns.push({ index: this.rows.length - 1, turn });
  }

  #begin(line: TranscriptLine & ToolUseEvent, at: number): void {
    const row = callRow(line, at);
    this.rows.push(row);
    this.#rowOfCall.set(line.tool_id, row);
    const before = this.#open.get(line.tool_id);
    if (before) this.#close(before);
    this.#open.set(line.tool_id, { row, events: [trimmed(line)], live: '' });
  }

  /** False for events of a call that was never requested, or is over. */
  #addToCall(
    line: Extract<
      TranscriptLine,
      { readonly type: 'policy_decision' | `approval_${string}` | `tool_${string}` }
    >,
    at: number,
  ): boolean {
    const call = this.#open.get(line.tool_id);
    if (!call) return false;
    call.events.push(trimmed(line));
    switch (line.type) {
      case 'policy_decision':
        decideRow(call.row, line);
        call.decision = line;
        break;
      case 'approval_request':
        if (line.deferred) call.row.state = 'waiting';
        break;
      case 'tool_start':
        call.row.start = at;
        break;
      case 'tool_result':
        finishRow(call.row, line, at);
        if (call.row.state === 'refused') this.#refused(call, line.tool_id);
        call.live = '';
        this.#close(call);
        this.#open.delete(line.tool_id);
        break;
      case 'approval_response':
      case 'tool_state':
      case 'tool_output':
      case 'tool_use':
        break;
      default:
        line satisfies never;
    }
    call.row.end = Math.max(call.row.end, at);
    return true;
  }

  #refused({ row, decision }: OpenCall, tool_id: string): void {
    const { rule = null, reason = '', remedy } = decision ?? {};
    this.denials.push({ tool_id, tool_name: row.tool ?? row.title, rule, reason, ...(remedy && { remedy }) });
  }

  #addLive(toolId: string, content: string): void {
    const call = this.#open.get(toolId);
    if (call) call.live = (call.live + content).slice(-LIVE_CHARACTERS);
  }

  #close({ row, events, live }: OpenCall): void {
    if (live) events.push({ type: 'tool_output', seq: row.seq, content: live });
    row.place = this.details.add(events);
  }
}

/** Events that always have a row of their own. */
type OwnRow =
  | ('init' | 'thought' | 'todos' | 'retry' | 'compression' | 'network_decision' | 'verification')
  | ('limit_notice' | 'loop_notice' | 'error' | 'result');
