import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifyTranscript } from '../../src/transcript/verify.js';
import { text } from '../helpers/gemini-server.mjs';
import { eventsOf, ofType, runAgainst } from '../helpers/run-cli.js';
import { bosunRun, bosunUnder, place, serve, type Served } from '../helpers/served.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const done = { parts: [text('Done.')] };
const sent = ({ server }: Pick<Served, 'server'>) => server.requests[0]?.body;
const initOf = ({ place: where }: Pick<Served, 'place'>) => ofType(eventsOf(where), 'init')[0];

describe('the settings of the model', () => {
  test('go over the wire and stand in init', async () => {
    const run = await bosunUnder(
      'version: 1\nmodel: {max_output_tokens: 900, temperature: 0, top_p: 0.9, seed: 7, thinking: {budget: 128}, safety: {HARM_CATEGORY_HARASSMENT: BLOCK_NONE}}\n',
      [done],
    );
    expect(run.code).toBe(0);
    expect(sent(run).generationConfig).toEqual({
      ...{ maxOutputTokens: 900, temperature: 0, topP: 0.9, seed: 7 },
      thinkingConfig: { thinkingBudget: 128 },
    });
    expect(sent(run).safetySettings).toEqual([
      { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' },
    ]);
    expect(initOf(run)?.model_settings).toEqual({
      ...{ max_output_tokens: 900, temperature: 0, top_p: 0.9, seed: 7 },
      thinking: { budget: 128 },
      safety: { HARM_CATEGORY_HARASSMENT: 'BLOCK_NONE' },
    });
    expect(await verifyTranscript(run.place.transcript)).toMatchObject({ valid: true });
  });

  test('say how much to think, and whether to tell', async () => {
    const policy = 'version: 1\nmodel: {thinking: {level: high}}\n';
    const run = await bosunUnder(policy, [done], ['--include-thoughts']);
    expect(sent(run).generationConfig.thinkingConfig).toEqual({
      includeThoughts: true,
      thinkingLevel: 'HIGH',
    });
  });

  test.each([
    ['gemini-2.5-pro', 65_536],
    ['gemini-3.9-flash', 65_536],
    ['gemini-test', 8192],
  ])('always have a longest answer: for %s %i tokens', async (model, tokens) => {
    const run = await bosunRun([done], ['-m', model]);
    expect(sent(run).generationConfig).toEqual({ maxOutputTokens: tokens });
    expect(initOf(run)?.model_settings).toEqual({ max_output_tokens: tokens });
  });

  test('of several policies are the shortest answer, and else those of the first', async () => {
    const where = place();
    const policies = [
      '{max_output_tokens: 900, temperature: 0.1}',
      '{max_output_tokens: 500, temperature: 1}',
    ];
    const args = policies.flatMap((model, i) => {
      const file = join(where.root, `${i}.yaml`);
      writeFileSync(file, `version: 1\nmodel: ${model}\n`);
      return ['--policy', file];
    });
    const server = await serve([done]);
    await runAgainst(server, where, [...args, '-p', 'x']);
    expect(sent({ server }).generationConfig).toEqual({ maxOutputTokens: 500, temperature: 0.1 });
  });
});
