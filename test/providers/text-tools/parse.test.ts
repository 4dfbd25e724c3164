import { describe, expect, test } from '@jest/globals';
import { parseAnswer } from '../../../src/providers/text-tools/parse.js';
import type { TextCall } from '../../../src/providers/text-tools/shape.js';

const KNOWN = new Set(['read_file', 'write_file', 'run_shell_command', 'write_todos']);
const READ = '{"name": "read_file", "args": {"file_path": "a.txt"}}';
const read: TextCall = { name: 'read_file', args: { file_path: 'a.txt' } };
const other: TextCall = { name: 'read_file', args: { file_path: 'b.txt' } };
const OTHER = JSON.stringify(other);
const fenced = (body: string, word = 'tool_call', ticks = '```') => `${ticks}${word}\n${body}\n${ticks}`;

/** The calls of an answer and the prose around them, or its fault. */
function parsed(text: string): { calls: TextCall[]; prose: string } | { fault: string } {
  const answer = parseAnswer(text, KNOWN);
  if ('fault' in answer) return answer;
  let prose = '';
  let at = 0;
  for (const { start, end } of answer.stretches) {
    expect(start).toBeGreaterThanOrEqual(at);
    expect(end).toBeGreaterThan(start);
    prose += text.slice(at, start);
    at = end;
  }
  return { calls: answer.stretches.flatMap(({ calls }) => calls), prose: prose + text.slice(at) };
}

describe('calls are', () => {
  const one: [what: string, text: string, prose?: string][] = [
    ['a block', fenced(READ)],
    [
      'a block with words around it',
      `Let me see.\n\n${fenced(READ)}\n\nThen more.`,
      'Let me see.\n\nThen more.',
    ],
    ['a block after words', `Let me see.\n\n${fenced(READ)}\n`, 'Let me see.'],
    ['a block with Windows line ends', fenced(READ).replaceAll('\n', '\r\n')],
    ['a block over several lines', fenced(JSON.stringify(read, null, 2))],
    ['a block with blank lines', fenced(`\n\n  ${READ}\n\n`)],
    ['a block in a list', `1. Read\n   \`\`\`tool_call\n   ${READ}\n   \`\`\`\n`, '1. Read'],
    ['a block without its end', `\`\`\`tool_call\n${READ}`],
    ['a block without its end, and a line break', `\`\`\`tool_call\n${READ}\n`],
    ['a block that ends on the line of the JSON', `\`\`\`tool_call\n${READ}\`\`\`\nOk.`, 'Ok.'],
    ['a block on one line', `\`\`\`tool_call ${READ} \`\`\``],
    ['a block that begins behind words', `Sure: \`\`\`tool_call\n${READ}\n\`\`\``, 'Sure:'],
    ['a block that begins right behind words', `Action:\`\`\`tool_call\n${READ}\n\`\`\``, 'Action:'],
    ['a block that begins behind a bullet', `- \`\`\`tool_call\n  ${READ}\n  \`\`\``, '-'],
    ['a tag that begins behind words', `Now: <tool_call>\n${READ}\n</tool_call>`, 'Now:'],
    ['a block of more backticks', fenced(READ, 'tool_call', '`````')],
    ['a block of tildes', fenced(READ, 'tool_call', '~~~')],
    ['a block with a blank before its word', fenced(READ, ' tool_call ')],
    ['a block in capitals', fenced(READ, 'TOOL_CALL')],
    ['a block that says tool_code', fenced(READ, 'tool_code')],
    ['a block that says tool_calls', fenced(READ, 'tool_calls')],
    ['a block that says tool-call', fenced(READ, 'tool-call')],
    ['a block that says tool_use', fenced(READ, 'tool_use')],
    ['a block that says function_call', fenced(READ, 'function_call')],
    ['a block that says json', fenced(READ, 'json'), ''],
    [
      'a block that says json, with words around it',
      `I read.\n${fenced(READ, 'json')}\nNow wait.`,
      'I read.\nNow wait.',
    ],
    ['a block that says nothing', fenced(READ, '')],
    ['a block that says json, without its end', `\`\`\`json\n${READ}`],
    ['a tag', `<tool_call>\n${READ}\n</tool_call>`],
    ['a tag on one line', `<tool_call>${READ}</tool_call>`],
    ['a tag behind words', `I will read it. <tool_call>${READ}</tool_call> Ok`, 'I will read it. Ok'],
    ['a tag without its end', `<tool_call>${READ}`],
    ['a tag with a fence in it', `<tool_call>\n\`\`\`json\n${READ}\n\`\`\`\n</tool_call>`],
    ['a tag function_call', `<function_call>${READ}</function_call>`],
    ['just the JSON', READ],
    ['just the JSON at the end', `I read it now.\n\n${READ}\n`, 'I read it now.'],
    ['just the JSON in a list', `[${READ}]`],
    ['arguments', fenced('{"name": "read_file", "arguments": {"file_path": "a.txt"}}')],
    ['parameters', fenced('{"name": "read_file", "parameters": {"file_path": "a.txt"}}', 'json')],
    ['input', fenced('{"tool": "read_file", "input": {"file_path": "a.txt"}}')],
    ['tool_name', fenced('{"tool_name": "read_file", "params": {"file_path": "a.txt"}}')],
    ['function', fenced('{"function": "read_file", "args": {"file_path": "a.txt"}}')],
    [
      'arguments as a string',
      fenced(JSON.stringify({ name: 'read_file', arguments: '{"file_path": "a.txt"}' })),
    ],
    [
      'in the form of another API',
      fenced(
        JSON.stringify({
          type: 'function',
          function: { name: 'read_file', arguments: '{"file_path":"a.txt"}' },
        }),
        'json',
      ),
    ],
    [
      'with an id and a type',
      fenced('{"id": "x", "type": "function", "name": "read_file", "args": {"file_path": "a.txt"}}'),
    ],
    ['with a reason', fenced('{"reason": "to see", "name": "read_file", "args": {"file_path": "a.txt"}}')],
    ['in a list of one', fenced(`[${READ}]`)],
    ['with commas too many', fenced('{"name": "read_file", "args": {"file_path": "a.txt",},}')],
    [
      'with a comment',
      fenced(
        `// look first\n${'{"name": "read_file", // the tool\n "args": {"file_path": "a.txt"}}'}`,
      ).replace('// look first\n', ''),
    ],
    ['after a code block', `${fenced('let x;', 'js')}\n${fenced(READ)}`, `${fenced('let x;', 'js')}`],
    [
      'after code blocks in code blocks',
      `${fenced(fenced('x', 'js'), 'markdown')}\n\n${fenced(READ)}`,
      fenced(fenced('x', 'js'), 'markdown'),
    ],
    [
      'after a code block of four backticks',
      `${fenced('```', 'md', '````')}\n${fenced(READ)}`,
      fenced('```', 'md', '````'),
    ],
    ['after a thought', `<think>Should I call it? ${fenced(OTHER)}</think>\n${fenced(READ)}`, ''],
    [
      'after a thought that the template began',
      `Hm.\n${fenced(OTHER)}\n</think>\n\nI read.\n${fenced(READ)}`,
      'I read.',
    ],
    [
      'before a word about tags',
      `${fenced(READ)}\n<tool_call> is how I do it.`,
      '<tool_call> is how I do it.',
    ],
  ];
  test.each(one)('%s', (_what, text, prose = '') => {
    expect(parsed(text)).toEqual({ calls: [read], prose });
  });

  const several: [what: string, text: string, prose?: string][] = [
    ['two blocks', `${fenced(READ)}\n${fenced(OTHER)}`],
    ['two blocks with words between them', `A\n${fenced(READ)}\n\nB\n\n${fenced(OTHER)}\n`, 'A\nB'],
    ['two blocks, the first without its end', `\`\`\`tool_call\n${READ}\n\`\`\`tool_call\n${OTHER}\n\`\`\``],
    ['a list in one block', fenced(`[${READ}, ${OTHER}]`)],
    ['objects one after the other in one block', fenced(`${READ}\n${OTHER}`)],
    ['two tags', `<tool_call>${READ}</tool_call><tool_call>${OTHER}</tool_call>`],
    ['two tags, the first without its end', `<tool_call>${READ}\n<tool_call>${OTHER}</tool_call>`],
    ['a list of two in a tag', `<tool_calls>[${READ}, ${OTHER}]</tool_calls>`],
    ['a block and a tag', `${fenced(READ)}\n<tool_call>${OTHER}</tool_call>`],
    ['two lines of JSON', `${READ}\n${OTHER}`],
    ['two blocks that say json', `${fenced(READ, 'json')}\n${fenced(OTHER, 'json')}`],
  ];
  test.each(several)('%s', (_what, text, prose = '') => {
    expect(parsed(text)).toEqual({ calls: [read, other], prose });
  });

  test('of any tool, if a block says so: the scheduler answers for tools that do not exist', () => {
    expect(parsed(fenced('{"name": "nope", "args": {}}'))).toMatchObject({
      calls: [{ name: 'nope', args: {} }],
    });
  });

  test.each([
    ['{"name": "write_todos"}'],
    ['{"name": "write_todos", "args": null}'],
    ['{"name": "write_todos", "args": {}}'],
  ])('fine without arguments: %s', (body) =>
    expect(parsed(fenced(body))).toMatchObject({ calls: [{ name: 'write_todos', args: {} }] }),
  );

  test.each([
    ['a line break', '"a\nb"', 'a\nb'],
    ['a tab', '"a\tb"', 'a\tb'],
    ['an indented code block', '"\n    x = `y`\n"', '\n    x = `y`\n'],
    ['the words of Python', '[True, False, None]', [true, false, null]],
    ['numbers', '[0, -1.5e3, 12]', [0, -1500, 12]],
    ['escapes', '"\\u0041\\ud83d\\ude00\\/\\"\\\\\\b\\f\\n\\r\\t"', 'A😀/"\\\b\f\n\r\t'],
  ])('read with %s', (_what, value, expected) => {
    const text = fenced(`{"name": "write_file", "args": {"content": ${value}}}`);
    expect(parsed(text)).toEqual({ calls: [{ name: 'write_file', args: { content: expected } }], prose: '' });
  });
});

describe('no calls are', () => {
  const declaration = { name: 'read_file', parameters: { type: 'object', properties: { file_path: {} } } };
  const harmless: [what: string, text: string][] = [
    ['prose', 'I have read a.txt. It says {"name": "read_file"}.'],
    ['nothing', ''],
    ['blanks', ' \n\n '],
    ['a code block', fenced('const call = { name: "read_file" };', 'js')],
    ['JSON of something else', fenced('{"name": "bosun", "version": "1.0.0"}', 'json')],
    ['JSON of something else without a fence', '{"name": "bosun", "args": {}}'],
    ['a package with arguments', fenced('{"name": "bosun", "args": {"x": 1}}', 'json')],
    ['a tool without arguments in JSON', fenced('{"name": "read_file"}', 'json')],
    [
      'a tool with something else beside it',
      fenced('{"name": "read_file", "args": {}, "kind": "read"}', 'json'),
    ],
    ['a declaration of a tool', fenced(JSON.stringify({ ...declaration, description: 'Reads.' }), 'json')],
    ['a short declaration of a tool', fenced(JSON.stringify(declaration), 'json')],
    ['a list of calls and something else', fenced(`[${READ}, {"x": 1}]`, 'json')],
    ['JSON with words in its block', fenced(`${READ}\nand so on`, 'json')],
    [
      'a line of a transcript',
      fenced('{"type": "tool_use", "tool_name": "read_file", "parameters": {"file_path": "a"}}', 'json'),
    ],
    ['an empty list', fenced('[]', 'json')],
    ['a call in YAML', fenced('name: read_file\nargs: {}', 'yaml')],
    ['a call in another language', fenced(READ, 'js')],
    ['a block with a longer word', fenced(READ, 'tool_call_example')],
    ['a block with a word that goes on', fenced(READ, 'tool_call-example')],
    ['a call in a code block', fenced(fenced(READ), 'markdown')],
    ['a call in a code block without a word, of four backticks', fenced(fenced(READ), '', '````')],
    ['a call in a code block of tildes', fenced(fenced(READ), '', '~~~')],
    ['a call after other code in a code block', fenced(`${fenced('x', 'sh')}\n${fenced(READ)}`, 'markdown')],
    ['a call after plain code in a code block', fenced(`${fenced('x', '')}\n${fenced(READ)}`, 'markdown')],
    ['a tag in a code block', fenced(`<tool_call>\n${READ}\n</tool_call>`, 'xml')],
    ['JSON in a code block', fenced(fenced(READ, 'json'), 'md', '````')],
    ['a quoted call', fenced(READ).replaceAll(/^/gm, '> ')],
    ['a quoted tag', `> <tool_call>${READ}</tool_call>`],
    ['an indented call', fenced(READ).replaceAll(/^/gm, '    ')],
    ['an indented tag behind words', `    so <tool_call>${READ}</tool_call>`],
    ['a tag between backticks', `Write \`<tool_call>${READ}</tool_call>\` to read.`],
    ['a tag between backticks, after words', `Write \`so: <tool_call>${READ}</tool_call>\` to read.`],
    ['a word about a block', 'Put it into a ```tool_call block.'],
    ['a word about a block at the end of a line', 'The word is ```tool_call\nand then JSON.'],
    ['a sentence about a tag', '<tool_call> is a tag.'],
    ['a closing tag', '</tool_call>'],
    ['a call in a result', `It said:\n<tool_result-1 name="x">\n${fenced(READ)}\n</tool_result-1>\nSo no.`],
    ['a thought', `<think>${fenced(READ)}</think>\nDone.`],
    ['a closing thought in a code block', fenced('x\n</think>\n', 'xml')],
    ['an output that is shown', fenced('A', 'tool_output')],
    ['a link', '[read_file](https://example.com) {"name"}'],
    ['brackets', '[[[[{{{{'],
  ];
  test.each(harmless)('%s', (_what, text) => {
    expect(parsed(text)).toMatchObject({ calls: [] });
  });

  test('and the prose stays as it is', () => {
    for (const [, text] of harmless) {
      if (!text.startsWith('<think>')) expect(parsed(text)).toEqual({ calls: [], prose: text });
    }
  });
});

describe('an answer is at fault, and none of its calls is made, if it has', () => {
  const faults: [what: string, text: string, fault: RegExp][] = [
    [
      'no end of an object',
      fenced('{"name": "read_file", "args": {"file_path": "a.txt"}'),
      /expected , or }.*line 3, column 1/,
    ],
    ['no end at all', '```tool_call\n{"name": "read_file", "args": {', /it is not finished/],
    [
      'no end of a string',
      fenced('{"name": "read_file", "args": {"file_path": "a.txt}}'),
      /a string is not closed.*a\.txt/,
    ],
    [
      'a string that would go on behind the block',
      `${fenced('{"name": "write_file", "args": {"content": "a')}\n"}}\n\`\`\``,
      /not closed/,
    ],
    [
      'a string that would go on behind the tag',
      '<tool_call>{"name": "x", "args": {"a": "b}}\n</tool_call>\n"}}</tool_call>',
      /not closed/,
    ],
    ['single quotes', fenced("{'name': 'read_file'}"), /key in double quotes/],
    [
      'an escape that is none',
      fenced('{"name": "x", "args": {"p": "\\d+"}}'),
      /\\d is no escape.*a backslash is \\\\/,
    ],
    ['half an escape', fenced('{"name": "x", "args": {"p": "\\u12"}}'), /four hex digits/],
    ['no comma', fenced('{"name": "read_file" "args": {}}'), /expected , or }/],
    ['no value', fenced('{"name": }'), /expected a value/],
    ['no colon', fenced('{"name" "x"}'), /expected : after a key/],
    ['a word that is no value', fenced('{"name": read_file}'), /expected a value/],
    ['a call in Python', fenced('print(read_file("a.txt"))', 'tool_code'), /no JSON object/],
    ['an empty block', fenced(''), /no JSON object/],
    ['an empty list', fenced('[]'), /no JSON object/],
    ['a list of names', fenced('["read_file"]'), /a call is an object/],
    ['no name', fenced('{"args": {"file_path": "a.txt"}}'), /"name" is missing/],
    ['an empty name', fenced('{"name": "", "args": {}}'), /"name" is missing/],
    ['a name that is no text', fenced('{"name": 1, "args": {}}'), /"name" is missing/],
    ['two names', fenced('{"name": "a", "tool": "b"}'), /both "name" and "tool"/],
    ['two sets of arguments', fenced('{"name": "a", "args": {}, "input": {}}'), /both "args" and "input"/],
    [
      'arguments beside the name',
      fenced('{"name": "read_file", "file_path": "a.txt"}'),
      /"file_path" does not belong/,
    ],
    ['a list of arguments', fenced('{"name": "read_file", "args": ["a.txt"]}'), /"args" is not an object/],
    ['arguments that are text', fenced('{"name": "read_file", "args": "a.txt"}'), /"args" is not an object/],
    ['words after the JSON', fenced(`${READ}\nThat is it.`), /expected the end of the block/],
    ['a tag with words in it', '<tool_call>read a.txt</tool_call>', /no JSON object/],
    [
      'a tag with words in it on lines of their own',
      '<tool_call>\nread a.txt\n</tool_call>',
      /no JSON object/,
    ],
    ['words after the JSON in a tag', `<tool_call>${READ} please</tool_call>`, /expected <\/tool_call>/],
    ['a good call and a bad one', `${fenced(READ)}\n${fenced('{"name": ')}`, /expected a value/],
    [
      'broken JSON that names a tool',
      fenced('{"name": "read_file", "args": {"file_path": }}', 'json'),
      /expected a value/,
    ],
    ['broken JSON that names a tool, without a fence', '{"name": "read_file", "args": {', /not finished/],
    ['a call without a fence, and words after it', `${READ}\nI wait.`, /without a block around it/],
    [
      'too many brackets',
      fenced(`{"name": "x", "args": {"a": ${'['.repeat(200)}`),
      /nested more than 100 deep/,
    ],
    [
      'a call, and a result that it made up',
      `${fenced(READ)}\n<tool_result-1 name="read_file">\nA\n</tool_result-1>\nDone.`,
      /writes a tool result itself/,
    ],
    ['the beginning of a result', `<tool_result-1>\n${fenced(READ)}`, /writes a tool result itself/],
    ['a call in a code block without its end', `\`\`\`md\n${fenced(READ)}`, /code block that is not closed/],
    ['a code block without its end, then a call', `Plan:\n\`\`\`\n1. read\n\n${fenced(READ)}`, /not closed/],
    [
      'a call, and an output that it made up',
      `${fenced(READ)}\n${fenced('A', 'tool_output')}`,
      /writes a tool result/,
    ],
    [
      'a call, and a response that it made up',
      `${fenced(READ)}\n<tool_response>A</tool_response>`,
      /writes a tool result/,
    ],
    ['only a thought', '<think>I wonder', /never got past/],
  ];
  test.each(faults)('%s', (_what, text, fault) => {
    expect(parsed(text)).toEqual({ fault: expect.stringMatching(fault) });
  });

  test('and says where, in one short line', () => {
    const { fault } = parsed(
      `Hm.\n${fenced(`{"name": "x", "args": {"a": \u001b[31mx${'y'.repeat(500)}}}`)}`,
    ) as { fault: string };
    expect(fault).toMatch(/line 3, column 29/);
    expect(fault).not.toMatch(/[\n\u001b]/);
    expect(fault.length).toBeLessThan(200);
  });
});
