import { expect, test } from '@jest/globals';
import { Log } from '../../src/lib/log.js';

test('a log says what its level lets through, in order', async () => {
  const lines: string[] = [];
  const log = new Log({ level: 'warn', format: 'pretty', color: false, write: (line) => lines.push(line) });
  log.info('not this');
  log.warn('this');
  log.error('and this');
  await log.flush();
  expect(lines).toEqual(['bosun: warn: this\n', 'bosun: error: and this\n']);
});
