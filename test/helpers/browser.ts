import { existsSync } from 'node:fs';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const PLACES = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
];
const program = PLACES.find((path) => path !== undefined && existsSync(path));
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

if (!program)
  process.stderr.write('\nNO CHROMIUM FOUND: pages are not opened. Install one, or name it in CHROMIUM.\n');

/** A test that needs a browser. Without one it is skipped, and a line says so. */
export const inBrowser = program ? test : test.skip;

let browser: Promise<Browser> | undefined;
const opened: { readonly page: Page; readonly faults: string[] }[] = [];

afterEach(async () => {
  for (const { page, faults } of opened.splice(0)) {
    await page.context().close();
    expect(faults).toEqual([]);
  }
});
afterAll(async () => (await browser)?.close());

/** Lets something go wrong on a page: a test that provokes it looks at it itself. */
export function forgive(page: Page): void {
  const index = opened.findIndex((one) => one.page === page);
  if (index >= 0) opened[index] = { page, faults: [] };
}

/**
 * Opens a file, and nothing else: a request, an error, or a broken content policy fails the test. `before` is a script
 * that runs before the page's own.
 */
export async function openPage(
  file: string,
  { before = '', ...options }: BrowserContextOptions & { readonly before?: string } = {},
): Promise<Page> {
  browser ??= chromium.launch({ ...(program && { executablePath: program }), args: FLAGS });
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  opened.push({ page, faults });
  page.on('console', (message) => faults.push(`console: ${message.text()}`));
  page.on('pageerror', ({ message }) => faults.push(`error: ${message}`));
  page.on('request', (request) => {
    if (!request.isNavigationRequest() || !request.url().startsWith('file:')) faults.push(request.url());
  });
  await page.exposeFunction('tellFault', (fault: string) => faults.push(fault));
  await page.addInitScript(`document.addEventListener('securitypolicyviolation',
    ({ violatedDirective, blockedURI }) => tellFault('policy: ' + violatedDirective + ' ' + blockedURI))`);
  await page.addInitScript(before);
  await page.goto(`file://${file}`);
  return page;
}
