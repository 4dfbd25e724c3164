import { describe, expect, test } from '@jest/globals';
import { metricsText } from '../../src/reporters/prometheus/metrics.js';

describe('metrics', () => {
  test('have help, a type and labels', () => {
    const points = [
      { labels: { task: 'a', kind: undefined }, value: 1.5 },
      { labels: {}, value: 0 },
    ];
    expect(metricsText([{ name: 'x_seconds', help: 'How long.', points }])).toBe(
      '# HELP x_seconds How long.\n# TYPE x_seconds gauge\nx_seconds{task="a"} 1.5\nx_seconds 0\n',
    );
  });

  test('leave out what is unknown', () => {
    const unknown = [null, undefined].map((value) => ({ labels: {}, value }));
    expect(metricsText([{ name: 'x', help: 'X.', points: unknown }])).toBe('');
  });

  test('escape what would end a label or a line', () => {
    const points = [{ labels: { task: 'a"b\\c\nd 1\n# TYPE y' }, value: 1 }];
    const [, , line, ...more] = metricsText([{ name: 'x', help: 'X.', points }]).split('\n');
    expect(line).toBe(String.raw`x{task="a\"b\\c\nd 1\n# TYPE y"} 1`);
    expect(more).toEqual(['']);
  });
});
