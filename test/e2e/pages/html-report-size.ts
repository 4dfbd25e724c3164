import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { areBoundsMeasured, bound } from '../../helpers/bounds.js';
import { inBrowser, openPage } from '../../helpers/browser.js';
import { countOf } from '../../helpers/counts.js';
import { longRun, record, type LongRun } from '../../helpers/recorded.js';
import { runCli, scratch } from '../../helpers/run-cli.js';
import { shareProcess } from '../../helpers/this-process.js';

shareProcess();

const where = scratch();
afterAll(where.remove);

/** A report as the program writes it, and how its size compares to that of its transcript. */
async function reportOf(name: string, run: LongRun): Promise<{ html: string; bytes: number; ratio: number }> {
  const html = join(where.root, `${name}.html`);
  if (!existsSync(html)) {
    const transcript = join(where.root, `${name}.jsonl`);
    record(transcript, longRun(run));
    expect((await runCli(['report', transcript, '--html', html])).code).toBe(0);
  }
  const bytes = statSync(join(where.root, `${name}.jsonl`)).size;
  return { html, bytes, ratio: statSync(html).size / bytes };
}

const THOUSAND: LongRun = { calls: 1000, output: 300 };
const HUGE: LongRun = { calls: 1000, output: countOf('REPORT_OUTPUT') };

/** Tells when the page was ready and had been painted once more. */
const WATCH = `new MutationObserver((_, observer) => {
  if (!document.documentElement?.dataset.ready) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.shownAfter = performance.now(); }));
}).observe(document, { subtree: true, attributes: true, attributeFilter: ['data-ready'] })`;

/** Milliseconds until a page with all its lines is shown: the best of some tries, as the machine may be busy. */
async function timeToShow(file: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < (areBoundsMeasured ? 10 : 1); i++) {
    const page = await openPage(file, { before: WATCH });
    const time = await page.waitForFunction(() => (window as { shownAfter?: number }).shownAfter);
    times.push((await time.jsonValue()) ?? Infinity);
    expect(await page.locator('#rows > li').count()).toBeGreaterThan(1500);
    await page.close();
    if (Math.min(...times) < 1000) break;
  }
  return Math.min(...times);
}

test('a report of 1,000 calls is smaller than its transcript', async () => {
  expect((await reportOf('thousand', THOUSAND)).ratio).toBeLessThan(1);
  const huge = await reportOf('huge', HUGE);
  expect(huge.bytes).toBeGreaterThan(HUGE.calls * HUGE.output);
  expect(huge.ratio).toBeLessThan(1);
});

inBrowser('a report of 1,000 calls is there within a second', async () => {
  const { html } = await reportOf('thousand', THOUSAND);
  bound(await timeToShow(html), 1000);
});

inBrowser('so is a far larger one, and all of it can be searched', async () => {
  const { html } = await reportOf('huge', HUGE);
  bound(await timeToShow(html), 1000);
  const page = await openPage(html);
  await page.locator('#rows > li.call summary').nth(998).click();
  const output = await page.locator('details[open] pre').last().innerText();
  const word = /\w+_[a-z\d]{4}/.exec(output)?.[0] ?? '';
  await page.locator('#query').fill(word);
  await page.waitForFunction(() =>
    /^\d+ of [\d,]+$/.test(document.querySelector('#count')?.textContent ?? ''),
  );
  await page.waitForFunction(() => document.querySelectorAll('#rows > li:not([hidden])').length < 1000);
  expect(await page.locator('#rows > li:not([hidden]) > details[open]').count()).toBe(1);
});
