import { expect, test } from '@jest/globals';
import { sh } from '../helpers/evidence.js';
import { learnIn } from '../helpers/learn.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

test.each(['DRY_RUN=1 npm run deploy', 'env DRY_RUN=1 npm run deploy', "DRY_RUN=1 bash -c 'npm run deploy'"])(
  '%s shows nothing about npm run deploy',
  async (line) => {
    const { lessons } = await learnIn(ws, [[sh(line)]]);
    expect(lessons?.rules).toEqual([]);
    expect(lessons?.unlearnt[0]?.why).toBe(
      'DRY_RUN may decide what it does, and no rule can name a variable',
    );
  },
);

test.each([
  'echo x | mydb a.db',
  'mydb a.db < gen.js',
  'mydb a.db <<< x',
  'echo y | (npm run deploy)',
  "ls | bash -c 'mydb a'",
])('%s: no rule can name its input', async (line) => {
  const { lessons } = await learnIn(ws, [[sh(line)]]);
  expect(lessons?.unlearnt.map(({ why }) => why)).toEqual(['it may do whatever its input says']);
});

test.each(['CI=1 npm test', 'NO_COLOR=1 npm test 2>&1 | tail -5', 'npm test < /dev/null'])(
  '%s is evidence for npm test',
  async (line) => {
    const { lessons } = await learnIn(ws, [[sh(line)]]);
    expect(lessons?.unlearnt).toEqual([]);
  },
);
