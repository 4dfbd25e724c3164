import { count } from '../../lib/text.js';
import type { RecordedRequest } from '../../protocol/approval.js';
import type { Remedy } from '../../protocol/decision.js';
import type { Denial, ResultEvent } from '../../protocol/event.js';
import { markup, type Html } from './markup.js';
import type { Row } from './row.js';

/** The rest of a long list is in the list of events. */
const SHOWN = 50;

type FindRow = (toolId: string) => Row | undefined;

export interface Attention extends Pick<ResultEvent, 'denials' | 'pending' | 'warnings'> {
  /** Hosts that commands could not reach. */
  readonly blocked: readonly Row[];
}

/** Denials, calls that wait for approval, and other things not to miss. Nothing if all is well. */
export function attention({ denials, pending, warnings, blocked }: Attention, find: FindRow): Html {
  if ([denials, pending, warnings, blocked].every(({ length }) => length === 0)) return markup``;
  return markup`<section class="attention" aria-labelledby="attention">
    <h2 id="attention" class="hidden">Needs attention</h2>
    ${group(
      'refused',
      `${count(denials.length, 'call')} denied`,
      denials.map((denial) => denialOf(denial, find)),
    )}
    ${group('refused', `${count(blocked.length, 'connection')} of commands blocked`, blocked.map(rowLink))}
    ${group(
      'waiting',
      `${count(pending.length, 'call')} waiting for an approval`,
      pending.map((asked) => pendingOf(asked, find)),
    )}
    ${group(
      'warning',
      count(warnings.length, 'warning'),
      warnings.map((warning) => markup`<li>${warning}</li>`),
    )}
  </section>`;
}

function group(tone: string, title: string, items: readonly Html[]): Html {
  if (items.length === 0) return markup``;
  const more =
    items.length > SHOWN && markup`<li class="fine">and ${items.length - SHOWN} more, in the list below</li>`;
  return markup`<div class="group ${tone}">
    <h3>${title}</h3>
    <ul>
      ${items.slice(0, SHOWN)}${more}
    </ul>
  </div>`;
}

function denialOf({ tool_id, tool_name, rule, reason, remedy }: Denial, find: FindRow): Html {
  const by = rule
    ? markup`rule <code>${rule.id}</code> at <code>${rule.file}:${rule.line}</code>`
    : remedy && 'none' in remedy
      ? undefined
      : markup`no rule allows it`;
  return markup`<li>${callLink(tool_id, tool_name, find)}
    <p>${reason}${by && markup` <span class="fine">${by}</span>`}</p>${remedy && remedyOf(remedy)}</li>`;
}

/** What would have allowed it. */
function remedyOf(remedy: Remedy): Html {
  if ('none' in remedy) return markup`<p class="fine">${remedy.none}</p>`;
  return markup`<details class="fold"><summary>Rules that would allow it</summary><pre class="code">${remedy.rules}</pre></details>`;
}

function rowLink({ seq, text }: Row): Html {
  return markup`<li><a href="#e${seq}"><code>${text}</code></a></li>`;
}

function pendingOf({ tool_call_id, tool_name, reason }: RecordedRequest, find: FindRow): Html {
  return markup`<li>
    ${callLink(tool_call_id, tool_name, find)}
    <p>
      ${reason} <span class="fine"><code>${tool_call_id}</code></span>
    </p>
  </li>`;
}

function callLink(id: string, tool: string, find: FindRow): Html {
  const row = find(id);
  if (!row) return markup`<b>${tool}</b>`;
  return markup`<a href="#e${row.seq}"><b>${row.title}</b> <code>${row.text}</code></a>`;
}
