import { formatDuration } from '../../lib/duration.js';
import { count } from '../../lib/text.js';
import type { RunStats } from '../../protocol/event.js';
import { markup, type Html } from './markup.js';
import type { Row } from './row.js';

const SHOWN = 100;

/** Which tools were used how often, and what they changed. */
export function work(
  stats: RunStats,
  rows: readonly Row[],
  changes: ReadonlyMap<string, { readonly added: number; readonly removed: number }>,
): Html {
  const tools = Object.entries(stats.tools);
  if (tools.length === 0) return markup``;
  return markup`<section class="work" aria-labelledby="work">
    <h2 id="work">What it did</h2>
    <div class="columns">
      <table>
        <caption class="hidden">
          Calls by tool
        </caption>
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">Calls</th>
            <th scope="col">Failed</th>
            <th scope="col">Refused</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          ${tools.map(([name, { calls, error, duration_ms }]) => {
            const refused = rows.filter(({ tool, state }) => tool === name && state === 'refused').length;
            return markup`<tr>
              <th scope="row"><code>${name}</code></th>
              <td>${calls}</td>
              ${number(Math.max(0, error - refused))}${number(refused)}
              <td>${formatDuration(duration_ms)}</td>
            </tr>`;
          })}
        </tbody>
      </table>
      ${changes.size > 0 && changed(changes)}
    </div>
  </section>`;
}

function number(value: number): Html {
  return value === 0 ? markup`<td class="none">0</td>` : markup`<td class="some">${value}</td>`;
}

function changed(changes: ReadonlyMap<string, { readonly added: number; readonly removed: number }>): Html {
  const files = [...changes].slice(0, SHOWN).map(
    ([path, { added, removed }]) =>
      markup`<li>
          <code>${path}</code> <span class="plus">+${added}</span> <span class="minus">-${removed}</span>
        </li>`,
  );
  const more = changes.size > SHOWN && markup`<li class="fine">and ${changes.size - SHOWN} more</li>`;
  return markup`<div>
    <h3>${count(changes.size, 'file')} changed</h3>
    <ul class="changes">
      ${files}${more}
    </ul>
  </div>`;
}
