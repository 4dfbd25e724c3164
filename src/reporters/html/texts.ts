import { headOf } from '../../lib/truncate.js';
import type { MessageEvent, ResultEvent } from '../../protocol/event.js';
import { markup, type Html } from './markup.js';
import { formatNumber } from '../../lib/text.js';

const TASK_CHARACTERS = 6_000;
const ANSWER_CHARACTERS = 200_000;
const LONG_LINES = 12;

export type Task = Pick<MessageEvent, 'content' | 'untrusted'> & { readonly seq: number };

/** The task and the answer. */
export function taskAndAnswer(task: Task | undefined, result: ResultEvent | undefined): Html {
  return markup`<section class="texts" aria-label="Task and answer">
    ${task && taskBlock(task)} ${answerBlock(result)}
  </section>`;
}

function taskBlock({ content, untrusted, seq }: Task): Html {
  const text = clippedProse(content, TASK_CHARACTERS, markup`<a href="#e${seq}">all of it</a>`);
  const isLong = content.length > 1200 || content.split('\n').length > LONG_LINES;
  const mark = untrusted && markup` <span class="badge warn">has untrusted text</span>`;
  return markup`<div class="task">
    <h2>Task${mark}</h2>
    ${
      isLong
        ? markup`<details class="fold">
            <summary>${headOf(content.trim().split('\n')[0] ?? '', 160)} …</summary>
            ${text}
          </details>`
        : text
    }
  </div>`;
}

function answerBlock(result: ResultEvent | undefined): Html {
  if (!result) return markup``;
  const { response, structured_output } = result;
  if (structured_output !== undefined)
    return markup`<div class="answer">
      <h2>Answer</h2>
      <pre class="prose code">${JSON.stringify(structured_output, null, 2)}</pre>
    </div>`;
  if (response === '')
    return markup`<div class="answer">
      <h2>Answer</h2>
      <p class="fine">There is none.</p>
    </div>`;
  return markup`<div class="answer">
    <h2>Answer</h2>
    ${clippedProse(response, ANSWER_CHARACTERS, markup`the rest is in the transcript`)}
  </div>`;
}

function clippedProse(text: string, length: number, rest: Html): Html {
  if (text.length <= length) return markup`${prose(text)}`;
  return markup`${prose(headOf(text, length))}
    <p class="fine">${formatNumber(text.length - length)} more characters: ${rest}.</p>`;
}

/** Text as written, with what is in fences and backquotes set as code. */
function prose(text: string): Html {
  return markup`${blocksIn(text).map(({ isCode, lines }) =>
    isCode ? markup`<pre class="code">${lines.join('\n')}</pre>` : paragraph(lines.join('\n')),
  )}`;
}

interface Block {
  readonly isCode: boolean;
  readonly lines: readonly string[];
}

/** A fence that is not closed is ordinary text. */
function blocksIn(text: string): Block[] {
  const blocks: Block[] = [];
  let plain: string[] = [];
  let code: string[] | undefined;
  for (const line of text.split('\n')) {
    if (code && /^(?:```|~~~)[ \t]*$/.test(line)) {
      blocks.push({ isCode: false, lines: plain }, { isCode: true, lines: code.slice(1) });
      [plain, code] = [[], undefined];
    } else if (code) code.push(line);
    else if (/^(?:```|~~~)[^`]*$/.test(line)) code = [line];
    else plain.push(line);
  }
  return [...blocks, { isCode: false, lines: [...plain, ...(code ?? [])] }];
}

function paragraph(text: string): Html {
  const parts = text
    .replace(/^\n+/, '')
    .trimEnd()
    .split(/`([^`\n]+)`/);
  if (parts.join('') === '') return markup``;
  return markup`<pre class="prose">${parts.map((part, i) =>
    i % 2 === 1 ? markup`<code>${part}</code>` : markup`${part}`,
  )}</pre>`;
}
