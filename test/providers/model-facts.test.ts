import { describe, expect, test } from '@jest/globals';
import {
  modelFacts,
  familyOf,
  FACTS_DATE,
  maxOutputOf,
  MODEL_FACTS,
} from '../../src/providers/model-facts.js';

describe('a name', () => {
  test.each([
    ['gemini-2.5-pro', 'gemini-2.5-pro'],
    ['vertex/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['gemini-2.5-pro-preview-06-05', 'gemini-2.5-pro'],
    ['gemini-2.5-pro-exp-03-25', 'gemini-2.5-pro'],
    ['gemini-2.5-flash-001', 'gemini-2.5-flash'],
    ['gemini-2.5-flash-lite-preview-09-2025', 'gemini-2.5-flash-lite'],
    ['gemini-3-pro-preview', 'gemini-3-pro'],
    ['gemini-3.1-pro-preview', 'gemini-3.1-pro'],
    ['gemini-flash-latest', 'gemini-flash'],
    ['openai/gpt-5', 'gpt-5'],
    ['openai/gpt-5-mini-2025-08-07', 'gpt-5-mini'],
    ['openai/gpt-4o-2024-11-20', 'gpt-4o'],
    ['o4-mini', 'o4-mini'],
  ])('%s is a %s', (name, family) => {
    expect(familyOf(name, Object.keys(MODEL_FACTS))).toBe(family);
    expect(modelFacts(name)).toBe(MODEL_FACTS[family]);
  });

  test.each([
    'gemini-2.5-flash-image',
    'gemini-2.5-flash-preview-tts',
    'gemini-2.5-pro-max',
    'gemini-2.5-prolog',
    'gemini-2.5',
    'gemini-scripted',
    'gpt-5.9',
    'gpt-5-pro',
    'my/gemini-2.5-pro',
    '__proto__',
    'constructor',
    '',
  ])('%p is nothing we know', (name) => {
    expect(modelFacts(name)).toBeUndefined();
  });
});

test.each([
  ['gemini-2.5-flash', 65_536],
  ['openai/gpt-4o', 16_384],
  ['gemini-4-pro', 65_536],
  ['vertex/gemini-12-flash', 65_536],
  ['gemini-2.0-flash', 8192],
  ['openai/llama-3', 8192],
])('the longest answer of %s is %i', (name, tokens) => {
  expect(maxOutputOf(name)).toBe(tokens);
});

test('the table is sound: a date, windows above outputs, and cached < input < output', () => {
  expect(FACTS_DATE).toMatch(/^20\d\d-\d\d-\d\d$/);
  for (const [name, { window, maxOutput, prices }] of Object.entries(MODEL_FACTS)) {
    expect([name, window > maxOutput, Number.isInteger(window)]).toEqual([name, true, true]);
    for (const rates of prices ? [prices, ...(prices.long ? [prices.long] : [])] : []) {
      const { input, cached = 0, output } = rates;
      expect([name, cached > 0, cached < input, input < output]).toEqual([name, true, true, true]);
    }
    if (prices?.long) expect([name, prices.long.input > prices.input]).toEqual([name, true]);
  }
});
