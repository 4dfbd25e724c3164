import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeText } from '../../lib/encoding.js';
import { mediaTypeOf } from '../../lib/media-type.js';
import { count } from '../../lib/text.js';
import { headOf } from '../../lib/truncate.js';
import type { Part } from '../../protocol/content.js';
import type { IncludedFile } from './include.js';
import { readBytes } from './read-bytes.js';
import type { SeenFiles } from './seen.js';
import { pathLine } from './shown-path.js';

/** Room for the text around the files. */
const NOTES = 3000;
/** With less room than this, a file is left out, not cut. */
const MIN_PIECE = 500;
/** Bytes of media in one answer. */
const MAX_MEDIA = 20 * 1024 * 1024;
const MAX_NAMES = 40;
/** How long files are read before other work gets a turn. */
const TURN_MS = 50;

/** Many files in one answer, each under its name; what does not fit is named. */
export async function bundleFiles(
  files: readonly IncludedFile[],
  seen: SeenFiles,
  cap: number,
  signal: AbortSignal,
): Promise<Part[]> {
  const texts: string[] = [];
  const media: Part[] = [];
  const leftOut: string[] = [];
  let room = Math.max(MIN_PIECE, cap - NOTES);
  let mediaRoom = MAX_MEDIA;

  /** False if it does not fit. */
  function addText(name: string, text: string): boolean {
    const header = `--- ${name} ---\n`;
    const space = room - header.length;
    if (text.length > space && space < MIN_PIECE) {
      leftOut.push(`${name} (no room)`);
      return false;
    }
    const block = header + (text.length > space ? cutText(text, space) : text);
    texts.push(block.endsWith('\n') ? block : `${block}\n`);
    room -= block.length;
    return true;
  }

  function add(file: IncludedFile): void {
    const name = pathLine(file.shown);
    if (room < MIN_PIECE) {
      leftOut.push(`${name} (no room)`);
      return;
    }
    const read = readBytes(file.path, file.shown);
    if (!('bytes' in read)) {
      leftOut.push(`${name} (${read.type})`);
      return;
    }
    const { bytes } = read;
    const mimeType = mediaTypeOf(bytes);
    const decoded = mimeType ? undefined : decodeText(bytes);
    if (decoded) {
      if (addText(name, decoded.text)) seen.saw(file.path, read);
    } else if (mimeType && file.named && bytes.length <= mediaRoom) {
      mediaRoom -= bytes.length;
      media.push({ inlineData: { mimeType, data: bytes.toString('base64') }, mediaName: name });
      texts.push(`--- ${name} ---\n[${mimeType}, attached]\n`);
    } else leftOut.push(`${name} (${mimeType ?? 'binary'}, ${count(bytes.length, 'byte')})`);
  }

  let turnEnd = performance.now() + TURN_MS;
  for (const file of files) {
    if (performance.now() > turnEnd) {
      await nextTurn();
      turnEnd = performance.now() + TURN_MS;
    }
    if (signal.aborted) break;
    add(file);
  }
  if (leftOut.length > 0) texts.push(leftOutNote(leftOut));
  return [{ text: texts.join('\n') }, ...media];
}

/** The first lines that fit, and how to read on. */
function cutText(text: string, space: number): string {
  const head = headOf(text, space - 100);
  const whole = head.lastIndexOf('\n') + 1;
  if (whole === 0) return `${head}\n[Cut in its first line.]\n`;
  const lines = head.slice(0, whole).split('\n').length - 1;
  return `${head.slice(0, whole)}[Cut after line ${lines}. To read on: read_file with offset ${lines}.]\n`;
}

function leftOutNote(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  const listed = names.slice(0, MAX_NAMES).join('\n');
  const more = rest > 0 ? `\n… and ${rest} more.` : '';
  return `[Left out: ${count(names.length, 'file')}. Read them with read_file, or ask for fewer at a time.]\n${listed}${more}`;
}
