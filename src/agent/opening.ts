import { decodeText } from '../lib/encoding.js';
import { errorCode, plainReason } from '../lib/errors.js';
import { fence, untrustedFence } from '../lib/fence.js';
import { readRegularFile } from '../lib/regular-file.js';
import { cleanText } from '../lib/text.js';
import { headOf, tailOf } from '../lib/truncate.js';
import type { Part } from '../protocol/content.js';
import type { LocatedFile, NamedFiles } from '../protocol/named-files.js';
import { configProblem } from '../protocol/problem.js';
import { MAX_INPUT_BYTES } from '../protocol/task.js';

/** What the first message holds besides the task, and what the user should know about that. */
export interface Opening {
  readonly parts: readonly Part[];
  readonly warnings: readonly string[];
}

/** The most characters of one file, and of all files together. */
const MAX_OF_ONE = 64 * 1024;
const MAX_OF_ALL = 256 * 1024;

/**
 * Reads the context files and the memory that the policies name. In an untrusted run the checkout may be untrusted,
 * and so may these files: they are still given, but as untrusted text, not as the user's instructions.
 */
export function openingOf(
  { context, memory, unused }: NamedFiles,
  untrusted: boolean,
  redact: (text: string) => string,
): Opening {
  const parts: Part[] = [];
  const warnings: string[] = [];
  let room = MAX_OF_ALL;

  function add(file: LocatedFile, kind: 'context' | 'memory', whole: string): void {
    const text = redact(whole);
    const { kept, cut } = capped(file.path, kind, text, Math.min(MAX_OF_ONE, room));
    room -= Math.min(text.length, MAX_OF_ONE, room);
    if (cut > 0) warnings.push(`${cut} characters of ${file.path} were left out (${file.place})`);
    parts.push({ text: untrusted ? untrustedFence(file.path, kept) : labelled(kind, file.path, kept) });
  }

  for (const file of context) {
    const text = fileText(file);
    if (text === undefined) warnings.push(`the context file ${file.path} does not exist (${file.place})`);
    else if (text.trim() !== '') add(file, 'context', text);
  }
  if (unused)
    warnings.push(`${unused.path} is not used as memory (${unused.place}): another policy names none`);
  // A memory that is also a context file is included already.
  const fresh = memory && !context.some(({ real }) => real === memory.real) ? memory : undefined;
  const remembered = fresh && fileText(fresh);
  if (fresh && remembered?.trim()) add(fresh, 'memory', remembered);
  return { parts, warnings };
}

/** Undefined if there is no such file. Any other reason why it cannot be read is an error. */
function fileText({ path, place, real }: LocatedFile): string | undefined {
  const problem = (why: string) => configProblem('policy', `${place}: ${path} ${why}`);
  let bytes: Buffer;
  try {
    ({ bytes } = readRegularFile(real, MAX_INPUT_BYTES, { unmoved: true }));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined;
    throw problem(`cannot be read: ${plainReason(error)}`);
  }
  const decoded = decodeText(bytes);
  if (!decoded) throw problem('is not a text file');
  return cleanText(decoded.text);
}

const LEADS = {
  context:
    'From your user, as context for the task. Unlike other file contents, what it says about how to work here is meant for you.',
  memory: 'What earlier runs remembered for later ones. It may be out of date; the task comes first.',
} as const;

function labelled(kind: keyof typeof LEADS, path: string, text: string): string {
  return `${LEADS[kind]}\n${fence(kind, path, text)}`;
}

/** The beginning of a context file, the end of a memory: its newest entries are last. */
function capped(path: string, kind: keyof typeof LEADS, text: string, cap: number) {
  if (text.length <= cap) return { kept: text, cut: 0 };
  const part = kind === 'context' ? headOf(text, cap) : tailOf(text, cap);
  const cut = text.length - part.length;
  const note = `[… ${cut} characters of ${path} are left out here …]`;
  return { kept: kind === 'context' ? `${part}\n${note}` : `${note}\n${part}`, cut };
}
