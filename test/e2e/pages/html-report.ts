import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { inBrowser, openPage } from '../../helpers/browser.js';
import { call, text } from '../../helpers/gemini-server.mjs';
import { fileOf } from '../../helpers/html-report.js';
import { runCli } from '../../helpers/run-cli.js';
import { bosunRun, place } from '../../helpers/served.js';
import { SMALL_RUN } from '../../helpers/small-run.js';
import { shareProcess } from '../../helpers/this-process.js';

shareProcess();

const shownTexts = (page: Page) =>
  page.locator('#rows > li:not([hidden]) > details > summary > b').allTextContents();

/** Opens the row of a call and gives what is below it. */
async function detailOf(page: Page, words: string): Promise<string> {
  const row = page.locator('#rows > li', { hasText: words }).first();
  await row.locator('summary').first().click();
  return row.locator('.detail').innerText();
}

test('a run writes the very page that its transcript gives later', async () => {
  const where = place();
  const live = join(where.root, 'live.html');
  const script = [
    {
      parts: [
        call('read_file', { file_path: 'a.txt' }),
        call('write_file', { file_path: 'b.txt', content: 'x' }),
      ],
    },
    { parts: [text('Done.')] },
  ];
  const files = { 'a.txt': 'one\n' };
  const run = await bosunRun(script, ['--mode', 'auto_edit', '--reporter', `html=${live}`], files);
  expect(run.code).toBe(0);
  const later = join(where.root, 'later.html');
  expect((await runCli(['report', run.place.transcript, '--html', later])).code).toBe(0);
  expect(readFileSync(later, 'utf8')).toBe(readFileSync(live, 'utf8'));
  const printed = await runCli(['report', run.place.transcript, '--html']);
  expect(printed.stdout).toBe(readFileSync(live, 'utf8'));
});

inBrowser('the first screen says how it ended, why, what was refused, and what it cost', async () => {
  const page = await openPage(fileOf(SMALL_RUN));
  expect(await page.title()).toBe('Denied: Bosun run 20261116T071101-0badcafe');
  const header = await page.locator('header').innerText();
  expect(header).toMatch(/Denied\s+exit 3 · denials/);
  expect(header).toContain('nothing is sent out of this job rule no-network at ci/bosun.yaml:14');
  expect(header).toContain('the MCP server wiki cannot be reached');
  for (const fact of [
    '17.0 s',
    '$0.03',
    '15,000',
    'gemini-2.5-pro',
    '/home/runner/work/shop/shop',
    'ci/bosun.yaml',
    'not active',
  ])
    expect(header).toContain(fact);
  const { bottom } = await page.locator('.figures').evaluate((element) => element.getBoundingClientRect());
  expect(bottom).toBeLessThan(600);
  expect(await page.locator('.task').innerText()).toMatch(
    /Task has untrusted text\s+Mend the cart, and publish it\./,
  );
  expect(await page.locator('.answer').innerText()).toContain('Mended src/cart.ts. Publishing was refused.');
});

inBrowser('a call shows arguments, decisions, process and output', async () => {
  const page = await openPage(fileOf(SMALL_RUN));
  const shell = await detailOf(page, 'npm test 2>&1');
  expect(shell).toMatch(/command\s+npm test 2>&1 \| tail -40/);
  expect(shell).toMatch(/npm test\s+allow tests may be run rule tests \(ci\/bosun\.yaml:7\)/);
  expect(shell).toMatch(/tail -40\s+allow reads only its input no rule, the default/);
  expect(shell).toContain('exit code 1, left behind and ended: 4711');
  expect(shell).toContain('Tests: 1 failed');
  expect(shell).toContain('transcript line 8, 9, 11, 12');
  const refused = await detailOf(page, 'npm publish');
  expect(refused).toContain('deny nothing is sent out of this job rule no-network (ci/bosun.yaml:14)');
  expect(refused).toContain('Error: policy_denied');
});

inBrowser('a change is a diff in colour', async () => {
  const page = await openPage(fileOf(SMALL_RUN));
  await detailOf(page, 'replace');
  const lines = page.locator('.diff > span');
  const kinds = await lines.evaluateAll((spans) => spans.map(({ className }) => className));
  expect(kinds).toEqual(['file', 'file', 'hunk', 'same', 'minus', 'plus', 'plus', 'same']);
  const colour = (kind: string) =>
    page
      .locator(`.diff .${kind}`)
      .first()
      .evaluate((line) => getComputedStyle(line).backgroundColor);
  expect(await colour('plus')).not.toBe(await colour('minus'));
});

inBrowser('a link to a refused call opens it', async () => {
  const page = await openPage(fileOf(SMALL_RUN));
  await page.locator('.attention a').click();
  expect(await page.locator('details[open] .detail').innerText()).toContain('policy_denied');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('npm publish');
});

inBrowser('events that nobody has heard of are shown all the same', async () => {
  const news = { type: 'shiny_new_event', answer: 42, nested: { why: 'because' } } as never;
  const page = await openPage(fileOf([...SMALL_RUN.slice(0, -1), [17_005, news], ...SMALL_RUN.slice(-1)]));
  expect(await shownTexts(page)).toContain('Shiny new event');
  const detail = await detailOf(page, 'Shiny new event');
  expect(detail).toMatch(/answer\s+42/);
  expect(detail).toMatch(/nested\s+\{"why":"because"\}/);
});

inBrowser('a run that was killed says so, and shows what was still running', async () => {
  const page = await openPage(fileOf(SMALL_RUN.slice(0, 11)));
  expect(await page.locator('header').innerText()).toMatch(/No result\s+killed, or still running/);
  expect(await page.locator('li.unfinished').innerText()).toContain('run_shell_command');
});

inBrowser('without JavaScript there are the verdict, the answer and a plain list', async () => {
  const page = await openPage(fileOf(SMALL_RUN), { javaScriptEnabled: false });
  expect(await page.locator('h1').innerText()).toBe('Denied');
  expect(await page.locator('.answer').innerText()).toContain('Publishing was refused.');
  expect(await page.locator('#rows > li').count()).toBe(14);
  expect(await page.locator('li.refused').innerText()).toMatch(
    /npm publish[\s\S]*denied[\s\S]*nothing is sent out/,
  );
  expect(
    await page
      .locator('#filters, #theme, .zoom')
      .evaluateAll((all) => all.filter((each) => each.checkVisibility())),
  ).toEqual([]);
});
