import { SCRIPT, STYLE } from './assets.js';
import { frameStart } from './frame.js';
import { Html, markup } from './markup.js';

/** All before the content. */
export function pageStart(title: string): Html {
  return frameStart({ title, script: SCRIPT, style: STYLE, skip: ['story', 'Skip to what happened'] });
}

/** The help, the script with its index, and last what is only unpacked on demand: the page works before that. */
export function* pageEnd(index: Html, chunks: readonly string[]): Generator<Html> {
  yield markup`<footer><p class="fine">Written by Bosun. Everything is in this file, and it loads nothing.</p></footer>
${HELP}
<script type="application/json" id="index">${index}</script>
<script>${Html.trusted(SCRIPT)}</script>
`;
  for (const chunk of chunks)
    yield markup`<script type="application/octet-stream" class="chunk">${Html.trusted(chunk)}</script>\n`;
  yield markup`</body>
</html>
`;
}

const KEYS = [
  ['j, k', 'next, previous line'],
  ['↓, ↑', 'the same, from a line'],
  ['Enter', 'open or close a line'],
  ['n, p', 'next, previous problem'],
  ['g, G', 'first, last line'],
  ['/', 'search'],
  ['Esc', 'clear the search, close this'],
  ['+, -, 0', 'zoom in, zoom out, all of the time'],
  ['[, ]', 'earlier, later'],
  ['d', 'dark or light'],
  ['?', 'this help'],
] as const;

const HELP = markup`<dialog id="help" aria-labelledby="help-title">
  <h2 id="help-title">Keys</h2>
  <dl class="key-list">
    ${KEYS.map(
      ([keys, what]) =>
        markup`<div>
          <dt><kbd>${keys}</kbd></dt>
          <dd>${what}</dd>
        </div>`,
    )}
  </dl>
  <p class="fine">
    Drag over the strip of time to look at a part of it. Search looks into arguments and outputs, too.
  </p>
  <form method="dialog"><button>Close</button></form>
</dialog>`;
