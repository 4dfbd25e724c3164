import { formatDuration } from '../../lib/duration.js';
import { count } from '../../lib/text.js';
import type { RunStats } from '../../protocol/event.js';
import { markup, type Html } from './markup.js';
import type { ChangedFile } from '../summary.js';
import { changeNote } from '../change-note.js';
import type { Row } from './row.js';

const SHOWN = 100;

/** How often each tool was used, and what they changed. */
export function toolsAndFiles(
  stats: RunStats,
  rows: readonly Row[],
  changes: readonly ChangedFile[] = [],
): Html {
  const tools = Object.entries(stats.tools);
  if (tools.length === 0 && changes.length === 0) return markup``;
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
            <th scope="col">Denied</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          ${tools.map(([name, { calls, error, duration_ms }]) => {
            const refused = rows.filter(({ tool, state }) => tool === name && state === 'refused').length;
            return markup`<tr>
              <th scope="row"><code>${name}</code></th>
              <td>${calls}</td>
              ${numberCell(Math.max(0, error - refused))}${numberCell(refused)}
              <td>${formatDuration(duration_ms)}</td>
            </tr>`;
          })}
        </tbody>
      </table>
      ${changes.length > 0 && changed(changes)}
    </div>
  </section>`;
}

function numberCell(value: number): Html {
  return value === 0 ? markup`<td class="none">0</td>` : markup`<td class="some">${value}</td>`;
}

function changed(changes: readonly ChangedFile[]): Html {
  const files = changes.slice(0, SHOWN).map((change) => {
    const { path, added, removed } = change;
    const note = changeNote(change);
    const lines =
      added !== undefined &&
      markup` <span class="plus">+${added}</span> <span class="minus">-${removed ?? 0}</span>`;
    return markup`<li><code>${path}</code>${lines}${note && markup` <span class="fine">${note}</span>`}</li>`;
  });
  const more = changes.length > SHOWN && markup`<li class="fine">and ${changes.length - SHOWN} more</li>`;
  return markup`<div>
    <h3>${count(changes.length, 'file')} changed</h3>
    <ul class="changes">
      ${files}${more}
    </ul>
  </div>`;
}
