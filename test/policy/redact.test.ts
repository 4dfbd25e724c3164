import { expect, test } from '@jest/globals';
import { load } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

test.each([
  [
    'an expression that cannot be read',
    'patterns: ["ok[a-z]{8}", "a(b"]',
    /policy\.yaml:3:\d+: `a\(b`: missing closing \)/,
  ],
  ['a lookahead', 'patterns: ["(?=x)y"]', /:3:\d+: `\(\?=x\)y`: invalid or unsupported Perl syntax/],
  ['one that matches everywhere', 'patterns: ["x*"]', /:3:\d+: `x\*`: it matches the empty text/],
  ['no expression at all', 'patterns: []', /:3:3: `redact.patterns` must/],
  ['a blank', 'patterns: [" "]', /`redact\.patterns\.0` must match/],
  ['what is no name', 'env: ["A B"]', /:3:\d+: `A B` is not the name of a variable/],
  ['an unknown key', 'envs: [A]', /`redact\.envs` is not known \(did you mean `env`/],
])('%s is refused, with its place', async (_, body, message) => {
  await expect(load(ws.path(), `version: 1\nredact:\n  ${body}\n`)).rejects.toThrow(message);
});

test('lists add up', async () => {
  const document = await load(ws.path(), 'version: 1\nredact: {env: [A, "B_*"], patterns: ["x{8}"]}\n');
  expect(document.redact).toEqual({ env: ['A', 'B_*'], patterns: ['x{8}'] });
});
