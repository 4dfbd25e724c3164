import { formatDuration } from '../../lib/duration.js';
import { count } from '../../lib/text.js';
import type { InitEvent, Limits, ResultEvent } from '../../protocol/event.js';
import { markup, type Html } from './markup.js';

/** What identifies a run. */
export interface Frame {
  readonly sessionId: string;
  readonly started: string;
}

/** The conditions under which it ran. */
export function factsSection(
  init: InitEvent | undefined,
  result: ResultEvent | undefined,
  frame: Frame,
): Html {
  const rows: [string, Html | string | undefined][] = [
    ['Run', markup`<code>${frame.sessionId}</code>, ${timeOf(frame.started)}`],
    ['Transcript', result?.transcript === undefined ? undefined : markup`<code>${result.transcript}</code>`],
    ...(init ? initRows(init) : []),
  ];
  const known = rows.filter(([, value]) => value !== undefined);
  return markup`<dl class="facts">${known.map(
    ([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

function initRows(init: InitEvent): [string, Html | string | undefined][] {
  const { sandbox, replay, policy, git_head } = init;
  const how = [
    init.provider,
    init.auth,
    init.tool_protocol === 'text' && 'tools in text',
    `Bosun ${init.version}`,
  ];
  return [
    ['Model', markup`${init.model} <span class="fine">${how.filter(Boolean).join(', ')}</span>`],
    [
      'Workspace',
      markup`<code>${init.cwd}</code>${git_head !== null && markup` <span class="fine">at ${git_head.slice(0, 12)}</span>`}`,
    ],
    ['Policy', markup`mode ${init.mode}${policy.map(policyFile)}`],
    ['Sandbox', sandboxOf(sandbox)],
    ['Limits', limitsOf(init.limits)],
    ['Dry run', init.dry_run && 'calls that would change something were not carried out'],
    ['MCP servers', init.mcp_servers.length > 0 ? markup`${init.mcp_servers.map(serverOf)}` : undefined],
    ['Replay of', replay === undefined ? undefined : markup`<code>${replay}</code>`],
  ];
}

function policyFile({ file, sha256 }: InitEvent['policy'][number]): Html {
  return markup`, <code>${file}</code> <span class="fine">sha256 ${sha256.slice(0, 12)}</span>`;
}

function sandboxOf({ active, backend, mode, reason }: InitEvent['sandbox']): Html {
  const state = active ? `active${backend === null ? '' : `, ${String(backend)}`}` : 'not active';
  return markup`${state} <span class="fine">mode ${mode}${reason && `: ${reason}`}</span>`;
}

function limitsOf({ turns, tool_calls, tokens, cost_usd, time_ms }: Limits): string {
  const parts = [count(turns, 'turn'), count(tool_calls, 'call')];
  if (tokens !== undefined) parts.push(count(tokens, 'token'));
  if (cost_usd !== undefined) parts.push(`$${cost_usd}`);
  return [...parts, formatDuration(time_ms)].join(', ');
}

function serverOf({ name, status, tools, error }: InitEvent['mcp_servers'][number]): Html {
  const detail = status === 'connected' ? count(tools, 'tool') : (error ?? '');
  return markup`<span class="server">${name}: ${status}${detail && `, ${detail}`}</span>`;
}

function timeOf(timestamp: string): Html {
  return markup`<time datetime="${timestamp}">${timestamp.slice(0, 19).replace('T', ' ')} UTC</time>`;
}
