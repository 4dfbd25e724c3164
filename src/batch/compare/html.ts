import type { Comparison, Switched } from '../../evidence/compare/compare.js';
import type { LimitCheck } from '../../evidence/compare/gate.js';
import { count } from '../../lib/text.js';
import { frameStart } from '../../reporters/html/frame.js';
import { markup, type Html } from '../../reporters/html/markup.js';
import { STYLE } from '../reporters/html/assets.js';
import { limitText, rowsOf, scopeText, shown } from './words.js';

/** A page that needs no script. */
export function compareHtml(comparison: Comparison, checks: readonly LimitCheck[]): string {
  const { a, b, lost, gained } = comparison;
  const broken = checks.filter(({ ok }) => !ok);
  const title =
    checks.length === 0 ? 'Comparison' : broken.length > 0 ? 'The gate is broken' : 'The gate holds';
  const tone = broken.length > 0 ? 'bad' : checks.length > 0 ? 'good' : 'wait';
  const frame = { title: `${title}: ${b.name}`, script: '', style: STYLE };
  return markup`${frameStart({ ...frame, skip: ['figures', 'Skip to the figures'] })}<header>
<div class="outcome ${tone}"><h1>${title}</h1>
<p class="meaning">${scopeText(comparison)}.</p></div>
<dl class="facts"><div><dt>A</dt><dd><code>${a.name}</code></dd></div><div><dt>B</dt><dd><code>${b.name}</code></dd></div></dl>
</header>
<main id="main" tabindex="-1">
${limits(checks)}
<section class="work" aria-labelledby="figures"><h2 id="figures">In figures</h2>${figures(comparison)}</section>
${switchedList('Lost', lost)}${switchedList('Gained', gained)}
${tools(comparison)}
</main>
<footer><p class="fine">Written by Bosun. Intervals hold with 95 % confidence; a difference inside the noise may be a coincidence.</p></footer>
</body>
</html>
`.text;
}

function limits(checks: readonly LimitCheck[]): Html {
  if (checks.length === 0) return markup``;
  return markup`<section aria-labelledby="gate"><h2 id="gate">Gate</h2><ul>${checks.map(
    (check) =>
      markup`<li><span class="badge ${check.ok ? 'allow' : 'deny'}">${check.ok ? 'holds' : 'broken'}</span> ${limitText(check)}</li>`,
  )}</ul></section>`;
}

function figures(comparison: Comparison): Html {
  return markup`<table><thead><tr><th></th><th>A</th><th>B</th><th>change</th><th></th></tr></thead><tbody>${rowsOf(
    comparison,
  ).map(
    ([name, ...cells]) =>
      markup`<tr><th scope="row">${name}</th>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>`,
  )}</tbody></table>`;
}

function switchedList(title: string, switched: readonly Switched[]): Html {
  if (switched.length === 0) return markup``;
  return markup`<section><h2>${title}: ${count(switched.length, 'task')}</h2><ul>${switched.map(
    ({ task, a, b, flaky }) =>
      markup`<li><code>${task}</code> ${a} → ${b}${flaky && markup` <span class="badge">flaky</span>`}</li>`,
  )}</ul></section>`;
}

function tools({ tools: all }: Comparison): Html {
  const changed = all.filter(({ a, b }) => a !== b);
  if (changed.length === 0) return markup``;
  return markup`<section class="work" aria-labelledby="tools"><h2 id="tools">Calls per task</h2><table><thead><tr><th></th><th>A</th><th>B</th></tr></thead><tbody>${changed.map(
    ({ name, a, b }) =>
      markup`<tr><th scope="row"><code>${name}</code></th><td>${shown('tool_calls', a)}</td><td>${shown('tool_calls', b)}</td></tr>`,
  )}</tbody></table></section>`;
}
