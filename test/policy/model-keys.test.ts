import { describe, expect, test } from '@jest/globals';
import { fold } from '../../src/policy/fold.js';
import { pricesOf, settingsIn, windowIn } from '../../src/providers/model-keys.js';
import { load } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const policy = (model: string, name = 'policy.yaml') =>
  load(ws.path(), `version: 1\nmodel: ${model}\n`, name);

describe('keys about the model that are not sound are refused, with their place', () => {
  const cases: [string, RegExp][] = [
    ['{temperatur: 1}', /:2:\d+: `model\.temperatur` is not known \(did you mean `temperature`\?\)/],
    ['{temperature: warm}', /`model\.temperature` must be a number/],
    ['{temperature: 2.1}', /`model\.temperature` must be <= 2/],
    ['{temperature: .inf}', /`model\.temperature` must be/],
    ['{top_p: -0.1}', /`model\.top_p` must be >= 0/],
    ['{seed: 1.5}', /`model\.seed` must be a whole number/],
    ['{seed: 2147483648}', /`model\.seed` must be <= 2147483647/],
    ['{max_output_tokens: 0}', /`model\.max_output_tokens` must be >= 1/],
    ['{max_output_tokens: null}', /`model\.max_output_tokens` must be a whole number/],
    ['{context_window: -5}', /`model\.context_window` must be >= 1/],
    ['{thinking: high}', /`model\.thinking` must be an object/],
    ['{thinking: {level: hihg}}', /`model\.thinking\.level` must be one of .* \(did you mean `high`\?\)/],
    ['{thinking: {budget: -2}}', /`model\.thinking\.budget` must be >= -1/],
    ['{thinking: {}}', /:2:\d+: `model\.thinking` takes one of `budget` and `level`/],
    ['{thinking: {budget: 1, level: low}}', /takes one of `budget` and `level`/],
    ['{safety: {HARM_CATEGORY_HARASMENT: OFF}}', /did you mean `HARM_CATEGORY_HARASSMENT`/],
    ['{safety: {HARM_CATEGORY_HARASSMENT: BLOCK_NON}}', /did you mean `BLOCK_NONE`/],
    ['{prices: {m: {input: 1}}}', /`model\.prices\.m\.output` is missing/],
    ['{prices: {m: {input: -1, output: 1}}}', /`model\.prices\.m\.input` must be >= 0/],
    ['{prices: {m: {input: "1", output: 1}}}', /`model\.prices\.m\.input` must be a number/],
    ['{prices: {m: {input: 1, output: 1, outptu: 1}}}', /did you mean `output`/],
    ['{prices: {m: {input: 1, output: 1, long: {input: 1, output: 1}}}}', /long\.above` is missing/],
    ['{prices: {m: 5}}', /`model\.prices\.m` must be an object/],
  ];
  test.each(cases)('%s', async (model, message) => {
    await expect(policy(model)).rejects.toMatchObject({
      status: 'config_error',
      message: expect.stringMatching(message),
    });
  });

  test.each(['-1', 'five', '"5"', '.nan', '.inf', 'null'])('a cost limit of %s', async (cost) => {
    await expect(load(ws.path(), `version: 1\nlimits: {cost_usd: ${cost}}\n`)).rejects.toMatchObject({
      message: expect.stringMatching(/:2:\d+: `limits\.cost_usd` must be/),
    });
  });
});

describe('how a model answers', () => {
  test('is what the policy says, and as long as the model can where it says nothing', async () => {
    const quiet = await policy('{name: gemini-2.5-pro}');
    expect(settingsIn(fold([quiet]).modelKeys, 'gemini-2.5-pro')).toEqual({ max_output_tokens: 65_536 });
    const full = await policy(
      '{max_output_tokens: 900, temperature: 0, top_p: 0.5, seed: 7, thinking: {level: low}, safety: {HARM_CATEGORY_HARASSMENT: OFF}}',
    );
    expect(settingsIn(fold([full]).modelKeys, 'gemini-2.5-pro')).toEqual({
      max_output_tokens: 900,
      temperature: 0,
      top_p: 0.5,
      seed: 7,
      thinking: { level: 'low' },
      safety: { HARM_CATEGORY_HARASSMENT: 'OFF' },
    });
  });

  test('of several policies is the shortest answer, and else the first that says it', async () => {
    const first = await policy('{max_output_tokens: 900, temperature: 0}', 'first.yaml');
    const second = await policy('{max_output_tokens: 500, temperature: 1, seed: 7}', 'second.yaml');
    const both = { max_output_tokens: 500, temperature: 0, seed: 7 };
    expect(settingsIn(fold([first, second]).modelKeys, 'gemini-test')).toEqual(both);
    expect(settingsIn(fold([second, first]).modelKeys, 'gemini-test')).toEqual({ ...both, temperature: 1 });
  });

  test('is overridden key by key by whoever extends it', async () => {
    const base =
      '{max_output_tokens: 500, seed: 7, thinking: {budget: 0}, safety: {HARM_CATEGORY_HARASSMENT: OFF}, prices: {a: {input: 1, output: 2}}}';
    await policy(base, 'base.yaml');
    const over = await load(
      ws.path(),
      'version: 1\nextends: [./base.yaml]\nmodel: {max_output_tokens: 900, thinking: {level: high}, safety: {HARM_CATEGORY_HATE_SPEECH: OFF}, prices: {b: {input: 3, output: 4}}}\n',
    );
    expect(settingsIn(fold([over]).modelKeys, 'm')).toEqual({
      max_output_tokens: 900,
      seed: 7,
      thinking: { level: 'high' },
      safety: { HARM_CATEGORY_HARASSMENT: 'OFF', HARM_CATEGORY_HATE_SPEECH: 'OFF' },
    });
    expect(Object.keys(over.modelKeys.prices)).toEqual(['a', 'b']);
  });
});

describe('the price of an answer', () => {
  const OWN = { input: 7, output: 8 };
  const PRO = expect.objectContaining({ input: 1.25, output: 10 });
  const FLASH = expect.objectContaining({ input: 0.3 });
  const cases: [what: string, prices: string, asked: string, answered: string, price: unknown][] = [
    ['the table', '{}', 'gemini-2.5-pro', 'gemini-2.5-pro', PRO],
    ['the table, by the version that answered', '{}', 'gemini-2.5-pro', 'gemini-2.5-pro-002', PRO],
    ['the table, by the model that answered', '{}', 'gemini-2.5-pro', 'gemini-2.5-flash', FLASH],
    ['the table, by the model that was asked', '{}', 'gemini-2.5-pro', 'secret-name', PRO],
    ['nothing', '{}', 'gemini-test', 'secret-name', undefined],
    ['the policy', '{gemini-2.5-pro: {input: 7, output: 8}}', 'gemini-2.5-pro', 'gemini-2.5-pro', OWN],
    [
      'the policy, with a prefix',
      '{vertex/gemini-x: {input: 7, output: 8}}',
      'gemini-x',
      'gemini-x-001',
      OWN,
    ],
    ['the policy before the table', '{gemini-x: {input: 7, output: 8}}', 'gemini-x', 'gemini-2.5-pro', OWN],
  ];
  test.each(cases)('is from %s', async (_what, prices, asked, answered, price) => {
    const document = await policy(`{prices: ${prices}}`);
    expect(pricesOf(fold([document]).modelKeys, asked, answered)).toEqual(price);
  });
});

test('the context window is the policy’s, else the one that is known', async () => {
  const said = await policy('{context_window: 32000}', 'said.yaml');
  const quiet = await policy('{}', 'quiet.yaml');
  expect(windowIn(fold([quiet, said]).modelKeys, 'gemini-2.5-pro')).toBe(32_000);
  expect(windowIn(fold([quiet]).modelKeys, 'vertex/gemini-2.5-pro')).toBe(1_048_576);
  expect(windowIn(fold([quiet]).modelKeys, 'somebody-elses')).toBe(128_000);
});
