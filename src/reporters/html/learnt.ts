import type { ResultEvent } from '../../protocol/event.js';
import { markup, type Html } from './markup.js';

/** The rules that a run needed, to be copied. The button is shown only if scripts run. */
export function learntSection(result: ResultEvent | undefined): Html {
  const lesson = result?.learnt;
  if (!lesson) return markup``;
  const rules = lesson.rules === '' ? '# none: what the mode plan allows was enough\n' : lesson.rules;
  return markup`<section class="learnt" aria-labelledby="learnt">
    <h2 id="learnt">This run needs these rules</h2>
    <button type="button" class="copy" data-copies="learnt-rules" hidden>Copy</button>
    <pre class="code" id="learnt-rules">${rules}</pre>
    <p class="fine">The whole policy was written to <code>${lesson.file}</code>, for review.</p>
  </section>`;
}
