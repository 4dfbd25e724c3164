import { describe, expect, test } from '@jest/globals';
import { encodeText, type Encoding } from '../../../src/lib/encoding.js';
import { replaceTool } from '../../../src/tools/builtin/replace.js';
import { callTool, textOf } from '../../helpers/call-tool.js';
import { rounds } from '../../helpers/counts.js';
import { Random } from '../../helpers/random.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();
const ROUNDS = rounds(150);

const CODINGS: readonly (readonly [Encoding, boolean])[] = [
  ['utf8', false],
  ['utf8', true],
  ['utf16le', true],
  ['utf16be', true],
  ['utf32le', true],
  ['utf32be', true],
];

const PIECES = ['a', 'b', '  ', '\t', 'x = 1;', 'grüße', '😀', '\u2028', '\u00a0', '\r', '"', '\\', '$&', ''];

/** Lines with endings of one kind, or of any, with or without one at the end. */
function randomText(random: Random): string {
  const endings = random.pick([['\n'], ['\r\n'], ['\n', '\r\n'], ['\n', '\r\n', '\r']]);
  const lines = random.list(1 + random.below(30), () =>
    random.list(random.below(6), () => random.pick(PIECES)).join(''),
  );
  const text = lines.map((line) => line + random.pick(endings)).join('');
  return random.chance(0.3) ? text.trimEnd() : text;
}

/** A part of the text that stands in it once, and cuts no character and no line end in two. */
function randomPart(random: Random, text: string): readonly [number, number] | undefined {
  for (let i = 0; i < 50; i++) {
    const start = random.below(text.length);
    const end = start + 1 + random.below(Math.min(60, text.length - start));
    const part = text.slice(start, end);
    const whole = part.isWellFormed() && !cutsEnding(text, start) && !cutsEnding(text, end);
    if (whole && text.indexOf(part) === start && text.indexOf(part, start + 1) < 0) return [start, end];
  }
  return undefined;
}

const cutsEnding = (text: string, at: number) => text[at - 1] === '\r' && text[at] === '\n';

function bytesOf(text: string, encoding: Encoding, bom: boolean): Buffer {
  const bytes = encodeText({ text, encoding, bom });
  if (!bytes) throw new Error('cannot be encoded');
  return bytes;
}

describe('replace keeps every byte in front of and behind what it replaces', () => {
  test.each(CODINGS)('in %s with a mark: %p', async (encoding, bom) => {
    const random = new Random(encoding.length + Number(bom));
    let edits = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const text = randomText(random);
      const part = randomPart(random, text);
      if (!part) continue;
      const [start, end] = part;
      ws.write('file', bytesOf(text, encoding, bom));
      const old_string = text.slice(start, end);
      const new_string = `<${random.list(random.below(4), () => random.pick(PIECES)).join('\n')}>`;
      textOf(await callTool(replaceTool(ws.path()), { file_path: 'file', old_string, new_string }));
      const after = ws.bytes('file').toString('hex');
      const front = bytesOf(text.slice(0, start), encoding, bom).toString('hex');
      const back = bytesOf(text.slice(end), encoding, false).toString('hex');
      expect({ round, front: after.startsWith(front), back: after.endsWith(back) }).toEqual({
        round,
        front: true,
        back: true,
      });
      edits++;
    }
    expect(edits).toBeGreaterThan(ROUNDS / 2);
  });

  test('also where old_string has other line ends and other white space than the file', async () => {
    const random = new Random(7);
    let edits = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const ending = random.pick(['\n', '\r\n']);
      const lines = random.list(12, () => `${random.pick(['', '  ', '\t\t'])}${random.below(1000)};`);
      const text = lines.join(ending);
      const first = random.below(10);
      const last = first + 1 + random.below(2);
      const wanted = lines.slice(first, last).map((line) => ` ${line.trim()} `);
      const fits = (at: number) => wanted.every((line, i) => lines[at + i]?.trim() === line.trim());
      if (lines.filter((_, at) => fits(at)).length !== 1) continue;
      ws.write('file', text);
      const params = { file_path: 'file', old_string: wanted.join('\r\n'), new_string: ' one;\n two;' };
      const told = textOf(await callTool(replaceTool(ws.path()), params));
      expect(told).toContain('did not match exactly');
      const indent = /^\s*/.exec(lines[first] as string)?.[0];
      const fresh = [`${indent}one;`, `${indent}two;`];
      expect(ws.text('file')).toBe([...lines.slice(0, first), ...fresh, ...lines.slice(last)].join(ending));
      edits++;
    }
    expect(edits).toBeGreaterThan(ROUNDS / 2);
  });
});
