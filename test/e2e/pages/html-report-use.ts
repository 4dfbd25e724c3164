import { afterAll, beforeAll, expect } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { inBrowser, openPage } from '../../helpers/browser.js';
import { fileOf, pageOf } from '../../helpers/html-report.js';
import { longRun } from '../../helpers/recorded.js';
import { scratch, type Scratch } from '../../helpers/run-cli.js';
import { SMALL_RUN } from '../../helpers/small-run.js';

let where: Scratch;
let file: string;
afterAll(() => where.remove());
beforeAll(() => {
  where = scratch();
  file = join(where.root, 'small.html');
  writeFileSync(file, pageOf(SMALL_RUN));
});

const shown = (page: Page) =>
  page
    .locator('#rows > li:not([hidden]) > details > summary')
    .evaluateAll((rows) =>
      rows.map((row) => `${row.querySelector('b')?.textContent} ${row.querySelector('.text')?.textContent}`),
    );
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.querySelector('b')?.textContent ?? document.activeElement?.id);
/** The search has looked into everything. */
const settled = (page: Page) => page.locator('#rows[aria-busy=false]').waitFor({ state: 'attached' });

async function search(page: Page, words: string): Promise<string[]> {
  await page.locator('#query').fill(words);
  await settled(page);
  return shown(page);
}

inBrowser(
  'search looks at lines, arguments, outputs and diffs, and takes every character as it is',
  async () => {
    const page = await openPage(file);
    expect(await search(page, 'NEEDLE')).toEqual(['read_file src/cart.ts']);
    expect(await search(page, 'npm test 2>&1 |')).toEqual(['run_shell_command npm test 2>&1 | tail -40']);
    expect(await search(page, 'price * 0.9 : price')).toEqual(['replace src/cart.ts +2 -1']);
    expect(await search(page, '(no such thing')).toEqual([]);
    expect(await page.locator('#nothing').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await settled(page);
    expect(await page.locator('#count').textContent()).toBe('14 of 14');
  },
);

inBrowser('lists narrow by tool, state, decision and kind, together', async () => {
  const page = await openPage(file);
  const pick = (name: string, value: string) => page.locator(`select[name=${name}]`).selectOption(value);
  await pick('tool', 'run_shell_command');
  expect(await shown(page)).toHaveLength(2);
  await pick('decision', 'deny');
  expect(await shown(page)).toEqual([expect.stringContaining('npm publish')]);
  await pick('tool', '');
  await pick('decision', '');
  await pick('state', 'failed');
  expect(await shown(page)).toEqual(['read_file src/carts.ts', 'Ended denied (denials) after 3 turns']);
  await pick('state', 'problem');
  await pick('kind', 'call');
  expect(await shown(page)).toHaveLength(3);
  const options = await page.locator('select[name=tool] option').allTextContents();
  expect(options).toEqual(['Tool: all', 'read_file (2)', 'run_shell_command (2)', 'replace (1)']);
});

inBrowser('everything can be reached by keys', async () => {
  const page = await openPage(file);
  await page.keyboard.press('j');
  expect(await focused(page)).toBe('Started');
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowDown');
  expect(await focused(page)).toBe('To the model');
  await page.keyboard.press('k');
  expect(await focused(page)).toBe('Warning');
  await page.keyboard.press('n');
  expect(await focused(page)).toBe('run_shell_command');
  await page.keyboard.press('Enter');
  expect(await page.locator('details[open] .detail').innerText()).toContain('exit code 1');
  await page.keyboard.press('Enter');
  expect(await page.locator('#rows details[open]').count()).toBe(0);
  await page.keyboard.press('G');
  expect(await focused(page)).toBe('Ended');
  await page.keyboard.press('p');
  expect(await focused(page)).toBe('read_file');
  await page.keyboard.press('g');
  expect(await focused(page)).toBe('Started');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
  expect(outline).toBe('solid');
  await page.keyboard.press('/');
  expect(await focused(page)).toBe('query');
  await page.keyboard.type('jkn?d');
  expect(await page.locator('#query').inputValue()).toBe('jkn?d');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  expect(await page.locator('#help').isVisible()).toBe(true);
  expect(await page.locator('#help').innerText()).toMatch(/\/\s+search/);
  await page.keyboard.press('Escape');
  expect(await page.locator('#help').isVisible()).toBe(false);
});

inBrowser('the list is one stop for the Tab key, and links skip to it', async () => {
  const page = await openPage(file);
  expect(await page.locator('#rows > li > details > summary[tabindex="0"]').count()).toBe(1);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(new URL(page.url()).hash).toBe('#story');
  const landmarks = await page.locator('header, main, footer, nav[aria-label], form[role=search]').count();
  expect(landmarks).toBe(5);
  const nameless = await page.locator('button, input, select, section, a').evaluateAll((all) =>
    all.filter((each) => {
      const name =
        each.getAttribute('aria-label') ?? each.getAttribute('aria-labelledby') ?? each.textContent;
      return !name?.trim();
    }),
  );
  expect(nameless).toHaveLength(0);
});

inBrowser('a part of the time can be looked at', async () => {
  const page = await openPage(file);
  const strip = await page.locator('#strip').boundingBox();
  if (!strip) throw new Error('there is no strip');
  const { x, y, width } = strip;
  await page.mouse.move(x + width * 0.1, y + 8);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.4, y + 8, { steps: 3 });
  await page.mouse.up();
  expect(await page.locator('#window').textContent()).toMatch(/^1\.7 s to 6\.8 s$/);
  expect(await shown(page)).toEqual([
    'Turn 1 I will look at the cart first.',
    'read_file src/cart.ts',
    'run_shell_command npm test 2>&1 | tail -40',
  ]);
  const bar = page.locator('#rows > li:not([hidden]).turn rect');
  expect(Number.parseFloat((await bar.getAttribute('width')) ?? '')).toBeGreaterThan(40);
  await page.keyboard.press('0');
  expect(await shown(page)).toHaveLength(14);
  await page.keyboard.press('+');
  expect(await page.locator('#window').textContent()).toBe('4.3 s to 12.8 s');
});

inBrowser('a bar of the chart leads to its turn', async () => {
  const page = await openPage(file);
  await page
    .locator('svg.chart')
    .first()
    .click({ position: { x: 20, y: 90 } });
  expect(await focused(page)).toBe('Turn 2');
  expect(await page.locator('details[open] .detail').innerText()).toContain('I will mend it.');
});

inBrowser('dark and light follow the system, until somebody chooses', async () => {
  const page = await openPage(file, { colorScheme: 'dark' });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await paper();
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await paper();
  expect(light).toBe('rgb(255, 255, 255)');
  expect(dark).not.toBe(light);
  await page.locator('#theme', { hasText: 'Dark' }).click();
  expect(await paper()).toBe(dark);
  await page.keyboard.press('d');
  expect(await paper()).toBe(light);
  await page.keyboard.press('d');
  await page.emulateMedia({ media: 'print' });
  expect(await paper()).toBe(light);
});

for (const colorScheme of ['light', 'dark'] as const) {
  inBrowser(`all text has enough contrast when it is ${colorScheme}`, async () => {
    const page = await openPage(file, { colorScheme });
    await page.locator('#open-all').click();
    await page.waitForFunction(() => document.querySelectorAll('.detail').length === 14);
    expect(await page.evaluate(faintTexts)).toEqual([]);
  });
}

/** Texts with less than 4.5 to 1 between their colour and what is behind them. Runs in the page. */
function faintTexts(): string[] {
  const channels = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const light = (colour: string) => {
    const [r = 0, g = 0, b = 0] = channels(colour).map((value) =>
      value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element: Element | null): string => {
    const colour = element ? getComputedStyle(element).backgroundColor : 'rgb(255, 255, 255)';
    return channels(colour)[3] === 0 ? behind(element?.parentElement ?? null) : colour;
  };
  const texts = [...document.querySelectorAll('body *')].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim()),
  );
  return texts.flatMap((element) => {
    if (element.closest('script, noscript, .hidden')) return [];
    const { color, fill } = getComputedStyle(element);
    const [one, other] = [light(element instanceof SVGElement ? fill : color), light(behind(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    return contrast < 4.5
      ? [`${contrast.toFixed(2)} ${element.className} ${element.textContent?.slice(0, 40)}`]
      : [];
  });
}

inBrowser('a phone shows all of it without scrolling sideways', async () => {
  const page = await openPage(fileOf(longRun({ calls: 40, output: 3000 })), {
    viewport: { width: 360, height: 740 },
  });
  await page.locator('#open-all').click();
  await page.waitForFunction(
    () => document.querySelectorAll('.detail').length === document.querySelectorAll('#rows > li').length,
  );
  const widths = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const wide = [...document.querySelectorAll('body *:not(svg *)')].filter(
      (element) => element.checkVisibility() && element.getBoundingClientRect().right > clientWidth + 1,
    );
    return {
      scrollWidth,
      clientWidth,
      wide: wide.map(({ tagName, className }) => `${tagName} ${String(className)}`),
    };
  });
  expect(widths).toEqual({ scrollWidth: 360, clientWidth: 360, wide: [] });
});
