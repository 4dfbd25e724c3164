import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { batchHtml } from '../../../src/batch/reporters/html/report.js';
import { outOf, promptOf, runBatch, startBatch } from '../../helpers/batch.js';
import { areBoundsMeasured, bound } from '../../helpers/bounds.js';
import { batchStory, taskResult, thousandTasks } from '../../helpers/batch-story.js';
import { inBrowser, openPage } from '../../helpers/browser.js';
import { text } from '../../helpers/gemini-server.mjs';
import { runCli } from '../../helpers/run-cli.js';
import { place, serve } from '../../helpers/served.js';
import { until } from '../../helpers/until.js';
import { shareProcess } from '../../helpers/this-process.js';

shareProcess();

function pageFile(...story: Parameters<typeof batchHtml>): string {
  const file = join(place().root, 'batch.html');
  writeFileSync(file, [...batchHtml(...story)].join(''));
  return file;
}

const failure = (id: string, message: string, cost: number) =>
  taskResult(id, {
    ...{ status: 'denied', exit_code: 3, cost_usd: cost, duration_ms: cost * 10_000 },
    error: { code: 'denied', message, hint: 'Allow it in the policy.' },
  });

const SMALL = batchStory(
  [
    taskResult('src/a.ts', { cost_usd: 0.5 }),
    failure('src/b.ts', 'npm publish was denied', 2),
    failure('src/c.ts', 'npm publish was denied', 0.1),
    taskResult('src/d.ts', {
      status: 'pending',
      exit_code: null,
      response: null,
      cost_usd: null,
      duration_ms: null,
    }),
    taskResult('src/e.ts', { status: 'approval_required', exit_code: 4 }),
  ],
  { continue: 'bosun batch run find-user.yaml' },
);

const shown = (page: Page) => page.locator('#rows > li:not([hidden]) b').allTextContents();
const pick = (page: Page, name: string, value: string) =>
  page.locator(`select[name=${name}]`).selectOption(value);

inBrowser('the page of a batch filters by status, class, cost, time and words', async () => {
  const page = await openPage(pageFile(SMALL));
  expect(await page.locator('h1').textContent()).toBe('Tasks failed');
  expect(await page.locator('.go-on code').textContent()).toBe('bosun batch run find-user.yaml');
  expect(await page.locator('#count').textContent()).toBe('5 of 5');
  await pick(page, 'state', 'failed');
  expect(await shown(page)).toEqual(['src/b.ts', 'src/c.ts']);
  await page.locator('input[name=cost]').fill('1');
  expect(await shown(page)).toEqual(['src/b.ts']);
  await page.keyboard.press('Escape');
  await page.locator('input[name=time]').fill('3');
  expect(await shown(page)).toEqual(['src/a.ts', 'src/b.ts', 'src/e.ts']);
  await page.keyboard.press('Escape');
  await page.locator('#query').fill('About src/A');
  expect(await shown(page)).toEqual(['src/a.ts']);
  await page.locator('#query').fill('no such thing');
  expect(await page.locator('#nothing').isVisible()).toBe(true);
  await page.keyboard.press('Escape');
  await pick(page, 'order', 'cost');
  expect((await shown(page)).slice(0, 3)).toEqual(['src/b.ts', 'src/a.ts', 'src/c.ts']);
  await pick(page, 'order', '');
  expect((await shown(page))[0]).toBe('src/a.ts');
});

inBrowser('failures are grouped by class and message, and lead to their tasks', async () => {
  const page = await openPage(pageFile(SMALL));
  const group = page.locator('.classes .group');
  expect(await group.count()).toBe(1);
  expect(await group.locator('h3').textContent()).toMatch(/^denied 2 tasks/);
  expect(await group.locator('li').textContent()).toBe('npm publish was denied src/b.ts, src/c.ts');
  await group.getByRole('button', { name: 'Show' }).click();
  expect(await shown(page)).toEqual(['src/b.ts', 'src/c.ts']);
  await group.getByRole('link', { name: 'src/c.ts' }).click();
  const detail = page.locator('#t2 .detail');
  expect(await detail.textContent()).toContain('Allow it in the policy.');
});

inBrowser('each task leads to the page of its run', async () => {
  const file = pageFile(SMALL, ({ id }) =>
    id === 'src/a.ts' ? 'batch-runs/src%252Fa.ts.1.html' : undefined,
  );
  const page = await openPage(file);
  expect(await page.locator('a.run').count()).toBe(1);
  expect(await page.locator('a.run').getAttribute('href')).toBe('batch-runs/src%252Fa.ts.1.html');
});

inBrowser.each(['light', 'dark'] as const)('it is readable on a phone, %s', async (colorScheme) => {
  const page = await openPage(pageFile(SMALL), { colorScheme, viewport: { width: 360, height: 700 } });
  const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(widths[0]).toBeLessThanOrEqual(widths[1] as number);
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(dark).toBe(colorScheme === 'dark' ? 'rgb(19, 22, 25)' : 'rgb(255, 255, 255)');
});

inBrowser('what tasks say is text, and nothing of it runs', async () => {
  const evil = '</script><img src=x onerror=tellFault(1)><b onclick="x">\u202e';
  const page = await openPage(
    pageFile(
      batchStory([
        taskResult(evil, {
          ...{ status: 'denied', exit_code: 3, reason: evil, response: evil, values: { [evil]: evil } },
          error: { code: evil, message: evil, hint: evil },
        }),
      ]),
    ),
  );
  await page.locator('#t0 > summary').click();
  expect(await page.locator('#t0 .detail').textContent()).toContain('<img src=x');
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.locator('main').textContent()).not.toContain('\u202e');
});

test('without JavaScript everything but answers is there', () => {
  const text = [...batchHtml(SMALL)].join('');
  const body = text.slice(0, text.indexOf('id="details"'));
  for (const { id } of SMALL.results) expect(body).toContain(`<b>${id}</b>`);
  expect(body).toContain("default-src 'none'");
});

const EACH = ['-p', 'Explain {{file}}', '--each', 'src/*.ts', '--name', 'each', '--policy', 'read-only'];

inBrowser('a batch writes its page and those of its runs, and report writes them again', async () => {
  const where = place({ 'src/a%b.ts': '', 'src/b.ts': '' });
  const server = await serve((request) =>
    promptOf(request).includes('src/b') ? { parts: [], finishReason: 'SAFETY' } : { parts: [text('Done.')] },
  );
  const file = join(where.root, 'my report.html');
  const { code } = await runBatch(server, where, [...EACH, '--reporter', `html=${file}`]);
  expect(code).toBe(13);
  const again = join(where.root, 'again.html');
  expect((await runCli(['batch', 'report', outOf(where), '--reporter', `html=${again}`])).code).toBe(0);
  for (const one of [file, again]) {
    const page = await openPage(one);
    await page.locator('#t0 ~ a.run').click();
    expect(await page.locator('h1').textContent()).toBe('Completed');
    await page.goBack();
    await page.locator('#t1 ~ a.run').click();
    expect(await page.locator('h1').textContent()).toBe('Model error');
  }
});

test('a batch that is told to end writes its page', async () => {
  const where = place({ 'src/a.ts': '', 'src/b.ts': '' });
  const server = await serve((_request, index) =>
    index === 0 ? { parts: [text('Done.')] } : { hang: true },
  );
  const file = join(where.root, 'page.html');
  const batch = startBatch(server, where, [...EACH, '--concurrency', '1', '--reporter', `html=${file}`]);
  await until(() => server.requests.length === 2, 'the second task asks');
  batch.child.kill('SIGINT');
  expect((await batch.done).code).toBe(130);
  const page = readFileSync(file, 'utf8');
  expect(page).toContain('<h1>Cancelled</h1>');
  expect(page).toContain('1 completed, 0 failed, 1 pending');
});

/** Tells when the page was ready and had been painted once more. */
const WATCH = `new MutationObserver((_, observer) => {
  if (!document.documentElement?.dataset.ready) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.shownAfter = performance.now(); }));
}).observe(document, { subtree: true, attributes: true, attributeFilter: ['data-ready'] })`;

inBrowser('1,000 tasks are there within a second', async () => {
  const file = pageFile(batchStory(thousandTasks()), ({ id }) => `batch-runs/${encodeURIComponent(id)}.html`);
  const times: number[] = [];
  for (let i = 0; i < (areBoundsMeasured ? 10 : 1) && !(Math.min(...times) < 1000); i++) {
    const page = await openPage(file, { before: WATCH });
    const time = await page.waitForFunction(() => (window as { shownAfter?: number }).shownAfter);
    times.push((await time.jsonValue()) ?? Infinity);
    expect(await page.locator('#rows > li').count()).toBe(1000);
    await page.close();
  }
  bound(Math.min(...times), 1000);
});
