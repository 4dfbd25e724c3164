import { codeSpan, fenced } from '../../lib/markdown.js';
import { formatDollars } from '../../lib/money.js';
import type { Redactor } from '../../lib/redact/redactor.js';
import { count } from '../../lib/text.js';
import { headOf } from '../../lib/truncate.js';
import { defused } from './defused.js';
import { SHORT_KEY } from './names.js';
import type { Piece } from './publication.js';

const MAX_PROMPT = 2000;
const MAX_FILES = 50;
const MAX_TASKS = 50;
const MAX_COMMANDS = 10;
/** GitHub takes a little more. */
const MAX_BODY = 60_000;

export interface FileLines {
  readonly path: string;
  /** Undefined: it is binary. */
  readonly added: number | undefined;
  readonly removed: number | undefined;
}

/** What became of a patch that belongs to a pull request: in it, or why not. */
export type Fate = 'in' | 'conflict' | 'refused' | 'merged';

export interface Shown {
  readonly batch: string | undefined;
  readonly key: string;
  readonly isGroup: boolean;
  readonly members: readonly { readonly piece: Piece; readonly fate: Fate }[];
  readonly files: readonly FileLines[];
  readonly redactor: Redactor;
}

/** The text of a pull request: what was asked, what has changed, and what checked it. */
export function bodyOf(shown: Shown): string {
  const { batch, isGroup, members, files } = shown;
  const inside = members.flatMap(({ piece, fate }) => (fate === 'in' ? piece : []));
  const [first] = inside;
  const span = (text: string, width = 200) => defused(codeSpan(shown.redactor.text(text), width));
  const from = batch === undefined ? 'a run' : `the batch ${span(batch)}`;
  const which = isGroup ? `${count(inside.length, 'task')}` : `task ${span(first?.id ?? '')}`;
  const sections = [
    `Made by Bosun in ${from}${batch === undefined ? '' : `, ${which}`}.`,
    first && `### What was asked\n\n${prompts(inside, shown)}`,
    `### What has changed\n\n${listed(files.map(fileLine(span)), MAX_FILES, 'file')}`,
    checksOf(inside, span),
    isGroup && `### Tasks\n\n${listed(inside.map(taskLine(span)), MAX_TASKS, 'task')}`,
    first &&
      !isGroup &&
      `${costText(first)}The last line of its transcript has the hash \`${first.story.transcript}\`.`,
  ];
  const text = sections.filter(Boolean).join('\n\n');
  return `${headOf(text, MAX_BODY)}\n\n${markerOf(shown)}\n`;
}

/** The prompts are mostly the same but for a name: the first one stands for all. */
function prompts([first, ...others]: readonly Piece[], { redactor }: Shown): string {
  const prompt = redactor.text(first?.story.prompt ?? '');
  const cut = headOf(prompt, MAX_PROMPT);
  const left = prompt.length - cut.length;
  const notes = [
    left > 0 && `${left} more characters are in the transcript.`,
    others.length > 0 && `The other tasks have prompts of their own.`,
  ].filter(Boolean);
  return [defused(fenced(cut)).trimEnd(), ...notes].join('\n\n');
}

type Span = (text: string, width?: number) => string;

const fileLine = (span: Span) => (file: FileLines) => `- ${span(file.path)} ${lineCounts(file)}`;

export function lineCounts({ added, removed }: FileLines): string {
  return added === undefined || removed === undefined ? 'binary' : `+${added} -${removed}`;
}

const taskLine = (span: Span) => (piece: Piece) =>
  `- ${span(piece.id)}: ${costText(piece)}transcript \`${piece.story.transcript.slice(0, SHORT_KEY)}\``;

function costText({ story: { costUsd } }: Piece): string {
  return costUsd === undefined ? '' : `Cost ${formatDollars(costUsd)}. `;
}

function checksOf(inside: readonly Piece[], span: Span): string | undefined {
  const commands = [...new Set(inside.flatMap(({ story }) => story.verified))];
  // Of each command that only some tasks had, nothing is said about the others.
  const passed = commands.filter((command) => inside.every(({ story }) => story.verified.includes(command)));
  if (passed.length === 0) return undefined;
  return `### What checked it\n\n${listed(
    passed.map((command) => `- ${span(command)} passed`),
    MAX_COMMANDS,
    'command',
  )}`;
}

function listed(lines: readonly string[], max: number, noun: string): string {
  const more = lines.length > max ? [`- and ${count(lines.length - max, `more ${noun}`)}`] : [];
  return [...lines.slice(0, max), ...more].join('\n');
}

/** Tells ours apart, and what of a group is in it. */
function markerOf({ key, isGroup, members }: Shown): string {
  const fates = members.map(({ piece, fate }) => ` ${piece.own.slice(0, SHORT_KEY)}=${fate}`);
  return `<!-- bosun:${key}${isGroup ? fates.join('') : ''} -->`;
}

/** What a body says became of a member of its group; undefined if it does not say. */
export function fateIn(body: string, key: string): Fate | undefined {
  const marker = /<!-- bosun:[0-9a-f]{64}((?: [0-9a-f]{12}=\w+)*) -->\s*$/.exec(body)?.[1] ?? '';
  const [, fate] =
    marker
      .split(' ')
      .map((one) => one.split('='))
      .find(([short]) => short === key.slice(0, SHORT_KEY)) ?? [];
  return (['in', 'conflict', 'refused', 'merged'] as const).find((one) => one === fate);
}
