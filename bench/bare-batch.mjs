// The least that does the same work as a batch: p-limit, fetch, one tool, and a journal with a flushed line for each turn.
import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import pLimit from 'p-limit';

const [baseUrl, tasks, concurrency, journal] = process.argv.slice(2);
const url = `${baseUrl}/v1beta/models/gemini-bench:streamGenerateContent?alt=sse`;
const file = openSync(journal, 'a');
const limit = pLimit(Number(concurrency));

await Promise.all(Array.from({ length: Number(tasks) }, (_, i) => limit(() => task(i))));

async function task(i) {
  const contents = [{ role: 'user', parts: [{ text: `Look at task ${i}.` }] }];
  for (let turn = 1; ; turn++) {
    const content = await ask(contents);
    contents.push(content);
    writeSync(file, `${JSON.stringify({ task: i, turn, content })}\n`);
    fdatasyncSync(file);
    const calls = content.parts.flatMap(({ functionCall }) => functionCall ?? []);
    if (calls.length === 0) return;
    const parts = await Promise.all(
      calls.map(async ({ name, args }) => ({
        functionResponse: { name, response: { output: await readFile(args.file_path, 'utf8') } },
      })),
    );
    contents.push({ role: 'user', parts });
  }
}

async function ask(contents) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': 'bench' },
    body: JSON.stringify({ contents }),
  });
  const [, data = ''] = /^data: (.*)/.exec(await response.text()) ?? [];
  return JSON.parse(data).candidates[0].content;
}
