// The least that does the same work: fetch, a loop, four tools. No policy, no transcript, no limits, no checks.
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';

const HEAD = 8_000;
const TAIL = 32_000;
const [baseUrl, prompt, sandbox] = process.argv.slice(2);
const url = `${baseUrl}/v1beta/models/gemini-bench:streamGenerateContent?alt=sse`;

const string = { type: 'string' };
const declare = (name, ...required) => ({
  name,
  description: name,
  parametersJsonSchema: {
    type: 'object',
    properties: Object.fromEntries(required.map((key) => [key, string])),
    required,
  },
});
const functionDeclarations = [
  declare('read_file', 'file_path'),
  declare('replace', 'file_path', 'old_string', 'new_string'),
  declare('run_shell_command', 'command'),
];

const tools = {
  read_file: async ({ file_path }) => readFile(file_path, 'utf8'),
  replace: async ({ file_path, old_string, new_string }) => {
    const before = await readFile(file_path, 'utf8');
    if (before.split(old_string).length !== 2) throw new Error('not found once');
    await writeFile(
      file_path,
      before.replace(old_string, () => new_string),
    );
    return 'ok';
  },
  run_shell_command: ({ command }) =>
    new Promise((resolve, reject) => {
      // In a sandbox it is only to say what starting one costs.
      const program = sandbox ? ['bwrap', '--ro-bind', '/', '/', 'true'] : ['bash', '-c', command];
      const child = spawn(program[0], program.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
      let head = '';
      let tail = '';
      const take = (chunk) => {
        const text = chunk.toString('utf8');
        if (head.length < HEAD) head += text.slice(0, HEAD - head.length);
        tail = (tail + text).slice(-TAIL);
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      child.once('error', reject);
      child.once('close', (code) => resolve(`exit ${code}\n${head}\n${tail}`));
    }),
};

async function turn(contents) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': 'bench' },
    body: JSON.stringify({ contents, tools: [{ functionDeclarations }] }),
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const decoder = new TextDecoder();
  const parts = [];
  let buffer = '';
  for await (const bytes of response.body) {
    buffer += decoder.decode(bytes, { stream: true });
    let end;
    while ((end = buffer.indexOf('\r\n\r\n')) >= 0) {
      const event = JSON.parse(buffer.slice('data: '.length, end));
      buffer = buffer.slice(end + 4);
      parts.push(...(event.candidates?.[0]?.content?.parts ?? []));
    }
  }
  return { role: 'model', parts };
}

const contents = [{ role: 'user', parts: [{ text: prompt }] }];
while (true) {
  const content = await turn(contents);
  contents.push(content);
  const calls = content.parts.filter((part) => part.functionCall).map((part) => part.functionCall);
  if (calls.length === 0) {
    process.stdout.write(`${content.parts.map((part) => part.text ?? '').join('')}\n`);
    break;
  }
  const results = await Promise.all(
    calls.map(async ({ id, name, args }) => {
      const output = await tools[name](args).catch((error) => `error: ${error.message}`);
      return { functionResponse: { id, name, response: { output } } };
    }),
  );
  contents.push({ role: 'user', parts: results });
}
