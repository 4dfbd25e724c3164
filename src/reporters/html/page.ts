import { createHash } from 'node:crypto';
import { SCRIPT, STYLE } from './assets.js';
import { Html, markup } from './markup.js';

/** All before the content. Nothing is loaded, and nothing runs or paints but what this project wrote. */
export function pageStart(title: string): Html {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(SCRIPT)}`,
    `style-src ${hashOf(STYLE)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${Html.trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${Html.trusted(STYLE)}</style>
</head>
<body>
<nav class="skip" aria-label="Skip"><a href="#main">Skip to the content</a> <a href="#story">Skip to what happened</a></nav>
`;
}

/** The help, the script with its index, and last what is only unpacked on demand: the page is of use before that. */
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

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
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
