import { expect } from '@jest/globals';
import { sampled } from '../helpers/counts.js';
import { call, text, type Reply } from '../helpers/gemini-server.mjs';
import { hidden } from '../helpers/attack/payloads.js';
import { attack, expectHarmless, shell, tool } from '../helpers/attack/scenario.js';
import { describeStaged } from '../helpers/attack/stage.js';
import { readLog } from '../helpers/runner-commands.js';

const LINES = [
  '::add-mask::x',
  '::set-output name=a::b',
  '##[error]boo',
  '##[set-env name=PATH]x',
  '::stop-commands::tok',
  '::save-state name=x::y',
  '  ::set-env name=NODE_OPTIONS::--require=/evil',
];
const NOISE = `\u001b]0;title\u0007\u001b[2J\u001b[31mred\u001b[0m\u001b]8;;http://evil\u0007link\u001b]8;;\u0007\u009b31m\u202ereversed\r::set-output name=a::b\n\r\n${LINES.join('\n')}\n\u2028${LINES.join('\u2028')}\u0085${LINES[0]}\n`;

/** Sequences that a terminal obeys. Colours of our own are for terminals, and there is none here. */
const OBEYED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

const commands = [
  `printf %s '${NOISE.replaceAll("'", '')}'; printf %s '${NOISE.replaceAll("'", '')}' >&2`,
  "touch '::set-output name=a::b' $'##[error]x' $'\\e[2Jname' $'line\\n::add-mask::x' ; ls; git add -A; git commit -qm $'::add-mask::x\\n##[error]y \\e[2J'; git log",
  "cat $'::error file=/x::y\\n::add-mask::z'; exit 3",
];
const replies = (final: string): Reply[] => [
  { parts: [text(NOISE), call('run_shell_command', { command: hidden(commands[0] as string) })] },
  shell(hidden(commands[1] as string)),
  shell(commands[2] as string),
  tool('read_file', { file_path: `${NOISE}` }),
  tool('write_file', { file_path: `\n::add-mask::x\u001b[2J`, content: NOISE }),
  tool(`::add-mask::x\n::set-output name=a::b`, { x: NOISE }),
  tool('list_directory', { dir_path: '.' }),
  { parts: [text(final)] },
];

describeStaged('a model that speaks to the log and the terminal', () => {
  sampled.each([['text'], ['json'], ['stream-json']])('is not obeyed, with -o %s', async (format) => {
    const report = await attack(replies(NOISE), {
      args: ['-o', format, '--reporter', 'junit=junit.xml', '--log-level', 'debug'],
      env: { GITHUB_ACTIONS: 'true' },
    });
    expectHarmless(report);
    for (const log of [report.stdout, report.stderr]) {
      expect(readLog(log).others).toEqual([]);
      expect(readLog(log).annotations.filter(({ message }) => message === 'boo')).toEqual([]);
      expect(OBEYED.exec(log)?.[0]).toBeUndefined();
    }
    expect(report.code).toBe(0);
  });
});
