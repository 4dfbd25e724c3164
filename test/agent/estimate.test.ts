import { describe, expect, test } from '@jest/globals';
import { contentTokens, Gauge } from '../../src/agent/estimate.js';
import type { Content, Part } from '../../src/protocol/content.js';

const content = (...parts: Part[]): Content => ({ role: 'user', parts });
const said = (text: string): Content => content({ text });
const media = (mimeType: string, bytes: number): Content =>
  content({ inlineData: { mimeType, data: 'A'.repeat((bytes * 4) / 3) } });

describe('a content is estimated', () => {
  const cases: [string, Content, number, number][] = [
    ['English', said('The quick brown fox jumps over the lazy dog. '.repeat(100)), 1000, 1300],
    ['Chinese', said('敏捷的棕色狐狸跳过懒狗。'.repeat(100)), 800, 1200],
    ['a call', content({ functionCall: { name: 'read_file', args: { file_path: 'src/a.ts' } } }), 10, 30],
    [
      'a result',
      content({ functionResponse: { name: 'x', response: { output: 'y'.repeat(4000) } } }),
      1000,
      1050,
    ],
    ['an image', media('image/png', 3_000_000), 1000, 3000],
    ['a minute of audio', media('audio/mp3', 60 * 16_000), 1500, 2500],
    ['a PDF', media('application/pdf', 300_000), 1000, 10_000],
  ];
  test.each(cases)('%s', (_what, one, least, most) => {
    expect(contentTokens(one)).toBeGreaterThanOrEqual(least);
    expect(contentTokens(one)).toBeLessThanOrEqual(most);
  });
});

describe('a gauge', () => {
  const thousand = said('x'.repeat(4000 - 12));

  test('counts what every request has, and the history', () => {
    expect(new Gauge(500).tokens([thousand, thousand])).toBe(2500);
  });

  test('takes the word of the model for what was sent, and estimates the rest', () => {
    const gauge = new Gauge(0);
    gauge.tokens([thousand]);
    gauge.learn(900);
    expect([gauge.prompt, gauge.tokens([thousand]), gauge.tokens([thousand, thousand])]).toEqual([
      900, 900, 1900,
    ]);
  });

  const densities: [string, number, number][] = [
    ['as dense as the model found the rest', 2000, 4000],
    ['no more than four times as dense', 100_000, 104_000],
    ['no less dense than usual', 10, 1010],
  ];
  test.each(densities)('takes what is new to be %s', (_what, counted, expected) => {
    const gauge = new Gauge(0);
    gauge.tokens([thousand]);
    gauge.learn(counted);
    expect(gauge.tokens([thousand, thousand])).toBe(expected);
  });

  test('gets along without a word from the model', () => {
    const gauge = new Gauge(0);
    gauge.tokens([thousand]);
    gauge.learn(undefined);
    gauge.tokens([thousand, thousand]);
    gauge.learn(0);
    expect([gauge.prompt, gauge.confirmed]).toEqual([2000, false]);
  });

  test('shrinks in proportion when a part is replaced', () => {
    const gauge = new Gauge(0);
    const history = [thousand, thousand, thousand, thousand];
    gauge.tokens(history);
    gauge.learn(8000);
    gauge.replace(thousand, 3);
    expect(gauge.tokens([thousand, thousand])).toBe(4000);
  });
});
