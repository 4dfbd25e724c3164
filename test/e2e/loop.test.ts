import { describe, expect, test } from '@jest/globals';
import { call, text } from '../helpers/gemini-server.mjs';
import { runHere } from '../helpers/in-process.js';
import { eventsOf, fileIn, IMPATIENT, ofType, resultOf } from '../helpers/run-cli.js';
import { bosunRun } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };

describe('what goes back to the model', () => {
  test('is its own content, part by part, with signatures and fields that nobody here knows', async () => {
    const parts = [
      { text: '', thoughtSignature: 'c2lnbmF0dXJl' },
      { text: 'Let me ' },
      { text: 'look.' },
      { text: 'signed', thoughtSignature: 'QUJD' },
      {
        ...call('read_file', { file_path: 'a.txt' }, { id: 'x', thoughtSignature: 'WFla' }),
        tomorrow: { deep: [1] },
      },
    ];
    const { server } = await runHere([{ parts }, done], {}, { 'a.txt': 'A' });
    expect(server.requests[1]?.body.contents[1]).toEqual({
      role: 'model',
      parts: [parts[0], { text: 'Let me look.' }, parts[3], parts[4]],
    });
  });

  test('has one response for each call, in call order, in one content, with its id and name', async () => {
    const calls = [
      call('run_shell_command', { command: 'sleep 0.2; echo slow' }, { id: 'slow' }),
      call('read_file', { file_path: 'a.txt' }, { id: 'fast' }),
      call('read_file', { file_path: 'missing.txt' }, { id: 'gone' }),
      call('no_such_tool', {}, { id: 'unknown' }),
      call('read_file', { filepath: 'a.txt' }, { id: 'invalid' }),
      call('write_file', { file_path: '.git/config', content: 'x' }, { id: 'denied' }),
      call('read_file', { file_path: '../outside' }, { id: 'outside' }),
      call('read_file', { file_path: 'a.txt' }),
    ];
    const { server } = await runHere([{ parts: calls }, done], { mode: 'yolo' }, { 'a.txt': 'A' });
    const content = server.requests[1]?.body.contents[2];
    const responses = content.parts.map((part: { functionResponse: object }) => part.functionResponse);
    expect(content.role).toBe('user');
    expect(responses.map(({ id }: { id: string }) => id)).toEqual([
      ...['slow', 'fast', 'gone', 'unknown', 'invalid', 'denied', 'outside'],
      'call_1',
    ]);
    expect(responses.map(({ name }: { name: string }) => name)).toEqual(
      calls.map((part) => part.functionCall.name),
    );
    expect(responses.map(({ response }: { response: { type?: string } }) => response.type)).toEqual([
      undefined,
      undefined,
      'file_not_found',
      'tool_not_registered',
      'invalid_tool_params',
      'policy_denied',
      'path_not_in_workspace',
      undefined,
    ]);
    for (const { response } of responses) {
      expect(typeof (response.output ?? response.error)).toBe('string');
    }
  });

  test('says in one line what of the arguments was ignored, beside a result and beside an error', async () => {
    const file = { file_path: 'a.txt', instruction: 'Fix it.' };
    const calls = [
      call('replace', { ...file, old_string: 'A', new_string: 'B' }, { id: 'done' }),
      call('replace', { ...file, old_string: 'nowhere', new_string: 'B' }, { id: 'missed' }),
      call('run_shell_command', { command: 'pwd', is_background: false }, { id: 'shell' }),
    ];
    const { server, code, place } = await runHere(
      [{ parts: calls }, done],
      { mode: 'yolo' },
      {
        'a.txt': 'A',
      },
    );
    const parts = server.requests[1]?.body.contents[2].parts ?? [];
    const [first, second, third] = parts.map(
      (part: { functionResponse: { response: object } }) => part.functionResponse.response,
    );
    const note = '[Ignored, not known to replace: `instruction`.]';
    expect(first.output).toMatch(
      /^\[Ignored, not known to replace: `instruction`\.\]\nChanged 1 place in a\.txt\./,
    );
    expect(second.error.split('\n')[0]).toBe(note);
    expect(third.output).toMatch(
      /^\[Ignored, not known to run_shell_command: `is_background`\.\]\nCommand: pwd\n/,
    );
    expect([code, fileIn(place, 'a.txt')]).toEqual([0, 'B']);
  });

  test('answers calls that share an id one by one', async () => {
    const same = [
      call('read_file', { file_path: 'a.txt' }, { id: 'twin' }),
      call('read_file', { file_path: 'b.txt' }, { id: 'twin' }),
    ];
    const { server, place, code } = await runHere(
      [{ parts: same }, done],
      {},
      {
        'a.txt': 'A',
        'b.txt': 'B',
      },
    );
    const responses = server.requests[1]?.body.contents[2].parts;
    expect(responses).toEqual([
      { functionResponse: { id: 'twin', name: 'read_file', response: { output: 'A' } } },
      { functionResponse: { id: 'twin', name: 'read_file', response: { output: 'B' } } },
    ]);
    expect(new Set(ofType(eventsOf(place), 'tool_result').map((line) => line.tool_id)).size).toBe(2);
    expect(code).toBe(0);
  });

  test('has media behind the responses, each under its number, its name and its call', async () => {
    const png = (last: string) => Buffer.from(`89504e470d0a1a0a0000000d494844${last}`, 'hex');
    const image = (last: string) => ({
      inlineData: { mimeType: 'image/png', data: png(last).toString('base64') },
    });
    const calls = [
      call('read_file', { file_path: 'src/a.png' }, { id: 'i' }),
      call('read_file', { file_path: 'note' }, { id: 'j' }),
      call('read_many_files', { include: ['b\n.png', 'c.png'] }, { id: 'k' }),
    ];
    const files = { 'src/a.png': png('01'), note: 'N', 'b\n.png': png('02'), 'c.png': png('03') };
    const { server, place } = await runHere([{ parts: calls }, done], {}, files);
    const [first, , , ...media] = server.requests[1]?.body.contents[2].parts ?? [];
    expect(first.functionResponse.response).toEqual({ output: 'Attached: image/png.' });
    expect(media).toEqual([
      { text: '[1] src/a.png (call 1, read_file)' },
      image('01'),
      { text: '[2] "b\\n.png" (call 3, read_many_files)' },
      image('02'),
      { text: '[3] c.png (call 3, read_many_files)' },
      image('03'),
    ]);
    const recorded = ofType(eventsOf(place), 'tool_result').map((line) => line.media?.[0]?.mediaName);
    expect(recorded).toEqual(['src/a.png', undefined, '"b\\n.png"']);
  });

  test('leaves thoughts out, and keeps them out of the answer', async () => {
    const thought = { text: 'hmm', thought: true };
    const script = [
      { parts: [thought, call('read_file', { file_path: 'a.txt' }, { id: '1' })] },
      { parts: [thought, text('Answer')] },
    ];
    const { server, place, stdout } = await bosunRun(script, ['--include-thoughts'], { 'a.txt': 'A' });
    const { thinkingConfig } = server.requests[0]?.body.generationConfig ?? {};
    expect(thinkingConfig).toEqual({ includeThoughts: true });
    expect(server.requests[1]?.body.contents[1].parts).toHaveLength(1);
    expect(stdout).toBe('Answer\n');
    expect(ofType(eventsOf(place), 'thought').map((line) => line.content)).toEqual(['hmm', 'hmm']);
  });
});

test('mutators keep their place among reads, and reads between them see their work', async () => {
  const parts = [
    call('read_file', { file_path: 'a.txt' }, { id: '1' }),
    call('write_file', { file_path: 'a.txt', content: 'new' }, { id: '2' }),
    call('read_file', { file_path: 'a.txt' }, { id: '3' }),
    call('run_shell_command', { command: 'sleep 0.1; printf newest > a.txt' }, { id: '4' }),
    call('read_file', { file_path: 'a.txt' }, { id: '5' }),
  ];
  const { server, place } = await runHere([{ parts }, done], { mode: 'yolo' }, { 'a.txt': 'old' });
  const outputs = server.requests[1]?.body.contents[2].parts.map(
    (part: { functionResponse: { response: { output: string } } }) => part.functionResponse.response.output,
  );
  expect([outputs[0], outputs[2], outputs[4]]).toEqual(['old', 'new', 'newest']);
  expect(fileIn(place, 'a.txt')).toBe('newest');
});

test('nothing of a broken stream is executed, kept or printed', async () => {
  const parts = [text('I will write.'), call('write_file', { file_path: 'x', content: 'y' })];
  const { code, stdout, place } = await bosunRun(
    [{ chunks: [parts, [text('more')]], cutAfterChunks: 1 }],
    IMPATIENT,
  );
  expect(code).toBe(11);
  expect(stdout).toBe('');
  expect(fileIn(place, 'x')).toBeUndefined();
  expect(eventsOf(place).map((line) => line.type)).toEqual(['init', 'message', 'result']);
});

test('calls in a truncated answer are not executed', async () => {
  const parts = [call('write_file', { file_path: 'x', content: 'y' })];
  const { code, place } = await runHere([{ parts, finishReason: 'MAX_TOKENS' }], { mode: 'yolo' });
  expect(code).toBe(7);
  expect(resultOf(place).reason).toBe('truncated');
  expect(fileIn(place, 'x')).toBeUndefined();
});

describe('answers that cannot be used', () => {
  const malformed = { parts: [text('tail of a call')], finishReason: 'MALFORMED_FUNCTION_CALL' };

  test('are asked for again with a hint, and not kept', async () => {
    const { code, server, stdout, place } = await bosunRun([malformed, malformed, done], []);
    expect(code).toBe(0);
    expect(stdout).toBe('Done.\n');
    expect(server.requests[2]?.body.contents).toEqual(server.requests[0]?.body.contents);
    expect(server.requests[1]?.body.systemInstruction.parts[0].text).toContain('could not be read');
    expect(ofType(eventsOf(place), 'retry')).toHaveLength(2);
    expect(resultOf(place).stats.total_tokens).toBe(330);
  });

  test('end the run after two more tries', async () => {
    const { code, stdout, server, place } = await bosunRun([malformed, malformed, malformed, done], []);
    expect([code, resultOf(place).reason, server.requests.length]).toEqual([7, 'malformed_function_call', 3]);
    expect(stdout).toBe('');
  });

  test('an empty answer is asked for once more at the start', async () => {
    const { code, server, place } = await runHere([{ parts: [] }, { parts: [] }, done]);
    expect([code, resultOf(place).reason, server.requests.length]).toEqual([7, 'empty_response', 2]);
  });

  test('an empty answer is fine once something was done', async () => {
    const script = [{ parts: [call('read_file', { file_path: 'a.txt' })] }, { parts: [] }];
    const { code, server, stdout } = await bosunRun(script, [], { 'a.txt': 'A' });
    expect([code, stdout, server.requests.length]).toEqual([0, '', 2]);
  });
});

test('the model is told where it is, that nobody answers, and what it may do, in few words', async () => {
  const { server, place } = await runHere([done], { mode: 'yolo' });
  const { systemInstruction, tools } = server.requests[0]?.body ?? {};
  const instruction: string = systemInstruction.parts[0].text;
  expect(instruction).toContain(place.workspace);
  expect(instruction).toContain('Nobody is there to answer');
  expect(instruction).toContain('run commands');
  // Four characters a token is the usual estimate.
  expect(JSON.stringify([systemInstruction, tools]).length / 4).toBeLessThan(2400);
});

test('a tool that the mode never allows is not offered, and calling it all the same is a denial', async () => {
  const script = [{ parts: [call('write_file', { file_path: 'x', content: 'y' }, { id: 'w' })] }, done];
  const { code, server, place, stdout } = await bosunRun(script, []);
  const offered = server.requests[0]?.body.tools[0].functionDeclarations.map(
    ({ name }: { name: string }) => name,
  );
  expect(offered).not.toContain('write_file');
  expect(offered).toContain('read_file');
  expect([code, resultOf(place).status, stdout]).toEqual([3, 'denied', 'Done.\n']);
  expect(resultOf(place).denials).toMatchObject([{ tool_id: 'w', tool_name: 'write_file', rule: null }]);
  expect(fileIn(place, 'x')).toBeUndefined();
});
