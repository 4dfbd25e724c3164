// The model of a batch, in a process of its own: every task reads a file until its last turn, and then says so.
import { startGeminiServer } from '../test/helpers/gemini-server.mjs';

const { turns = 1, delayMs = 0, quota, hang } = JSON.parse(process.argv[2]);
let accepted = [];
let rejected = 0;
let total = 0;

const server = await startGeminiServer((request) => {
  total++;
  if (quota && !isWithin(quota)) return tooMany(quota);
  const turn = request.body.contents.filter(({ role }) => role === 'model').length + 1;
  const parts =
    turn < turns
      ? [{ functionCall: { name: 'read_file', args: { file_path: 'note.txt' } } }]
      : [{ text: 'It says nothing new.' }];
  // What it was sent would fill the memory of a long run.
  request.body = undefined;
  request.raw = '';
  return { parts, delayMs, hang };
});
process.on('message', (message) => {
  if (message === 'end') process.exit(0);
  process.send({ total, rejected });
});
// Whoever started it may have been killed.
process.on('disconnect', () => process.exit(0));
process.send({ url: server.url });

/** No more than so many requests in any window. */
function isWithin({ requests, windowMs }) {
  const now = performance.now();
  accepted = accepted.filter((at) => at > now - windowMs);
  if (accepted.length >= requests) {
    rejected++;
    return false;
  }
  accepted.push(now);
  return true;
}

/** As Gemini says it, with the time until there is room again. */
function tooMany({ windowMs }) {
  const waitMs = (accepted[0] ?? 0) + windowMs - performance.now();
  const retryDelay = `${Math.max(0.001, waitMs / 1000).toFixed(3)}s`;
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }];
  const error = { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Too many requests.', details };
  return { status: 429, body: { error } };
}
