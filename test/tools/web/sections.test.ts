import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { OutputFile } from '../../../src/lib/output-file.js';
import { fairShares } from '../../../src/lib/fair-shares.js';
import { renderSections } from '../../../src/tools/web/sections.js';
import { useWorkspace } from '../../helpers/workspace.js';

const ws = useWorkspace();

test.each([
  [[10, 20, 30], 100, [10, 20, 30]],
  [[100, 100], 100, [50, 50]],
  [[10, 1000, 1000], 100, [10, 45, 45]],
  [[1000, 10, 1000], 100, [45, 10, 45]],
  [[0, 500], 100, [0, 100]],
  [[5], 0, [0]],
  [[], 10, []],
])('%j share %d as %j', (needs, total, shares) => {
  expect(fairShares(needs, total)).toEqual(shares);
});

describe('what was found', () => {
  const openOutput = (cap: number) => () => new OutputFile(ws.path('out.txt'), 'out.txt', cap);
  const page = (name: string, length: number) => ({
    head: `${name}:`,
    label: name,
    body: `${name} begins ${'x'.repeat(length)}`,
  });

  test('is fenced, each piece by a boundary of its own', () => {
    const { text, full_output } = renderSections([page('a', 5), page('b', 5)], 40_000, openOutput(40_000));
    const marks = [...text.matchAll(/<untrusted-([0-9a-f]{24}) name="[ab]">/g)].map(([, mark]) => mark);
    expect(new Set(marks).size).toBe(2);
    for (const mark of marks) expect(text).toContain(`</untrusted-${mark}>`);
    expect(full_output).toBeUndefined();
    expect(existsSync(ws.path('out.txt'))).toBe(false);
  });

  test('is cut piece by piece if it is too long, and whole in a file', () => {
    const sections = [page('short', 100), page('long', 50_000), page('longer', 90_000)];
    const { text, full_output } = renderSections(sections, 10_000, openOutput(10_000));
    expect(text.length).toBeLessThanOrEqual(10_000);
    expect(text.length).toBeGreaterThan(8500);
    expect(full_output).toBe('out.txt');
    expect(text).toMatch(/^long: \[the last \d+ characters are cut; full output: out\.txt\]$/m);
    expect(text).toMatch(/^short:$/m);
    expect([...text.matchAll(/<untrusted-/g)]).toHaveLength(3);
    expect([...text.matchAll(/<\/untrusted-/g)]).toHaveLength(3);
    const whole = readFileSync(ws.path('out.txt'), 'utf8');
    expect(whole.length).toBeGreaterThan(140_000);
  });

  test('is left to the cap where there is no room at all', () => {
    const { text } = renderSections([page('a', 5000)], 100, openOutput(100));
    expect(text.length).toBeGreaterThan(5000);
  });
});
