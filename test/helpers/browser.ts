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
interface Opened {
  readonly page: Page;
  faults: string[];
  isForgiven?: boolean;
}
let opened: Opened[] = [];
/** A page that leads from test to test: one of its own for each would cost five times as much as what the test does on it. */
let shared: Opened | undefined;

afterEach(async () => {
  const before = opened;
  opened = [];
  for (const one of before) {
    if (one === shared) await leave(one);
    else await one.page.context().close();
    expect(one.isForgiven ? [] : one.faults).toEqual([]);
  }
});
afterAll(async () => (await browser)?.close());

/** Leaves nothing of a test behind on the shared page, or closes it. */
async function leave({ page, isForgiven }: Opened): Promise<void> {
  const isEmptied = !isForgiven && (await page.evaluate<boolean>(EMPTY).catch(() => false));
  if (isEmptied && page.context().pages().length === 1) await page.goto('about:blank');
  else await closeShared();
}

const EMPTY = "localStorage.clear(), sessionStorage.clear(), window.name = '', true";

async function closeShared(): Promise<void> {
  const context = shared?.page.context();
  shared = undefined;
  await context?.close();
}

/** Lets something go wrong on a page: a test that provokes it looks at it itself. */
export function forgive(page: Page): void {
  for (const one of opened.filter((each) => each.page === page)) one.isForgiven = true;
}

type PageOptions = BrowserContextOptions & { readonly before?: string };

/**
 * Opens a file, and nothing else: a request, an error, or a broken content policy fails the test. `before` is a script
 * that runs before the page's own.
 */
export async function openPage(file: string, options: PageOptions = {}): Promise<Page> {
  const { viewport = VIEWPORT, colorScheme = 'light', ...special } = options;
  const isSpecial = Object.keys(special).length > 0 || viewport === null;
  if (isSpecial || (shared && opened.includes(shared))) {
    const one = await newPage(options);
    await one.page.goto(`file://${file}`);
    return one.page;
  }
  shared ??= await newPage();
  if (!opened.includes(shared)) opened.push(shared);
  const { page } = shared;
  shared.faults = [];
  await page.setViewportSize(viewport);
  await page.emulateMedia({ media: null, colorScheme });
  // Where the last test left it, something may be that reacts to it.
  await page.mouse.move(0, 0);
  await page.goto(`file://${file}`);
  return page;
}

const VIEWPORT = { width: 1280, height: 900 };

/** A page in a context of its own. */
async function newPage({ before = '', ...options }: PageOptions = {}): Promise<Opened> {
  browser ??= chromium.launch({ ...(program && { executablePath: program }), args: FLAGS });
  const context = await (await browser).newContext({ viewport: VIEWPORT, ...options });
  const page = await context.newPage();
  const one: Opened = { page, faults: [] };
  opened.push(one);
  page.on('console', (message) => one.faults.push(`console: ${message.text()}`));
  page.on('pageerror', ({ message }) => one.faults.push(`error: ${message}`));
  page.on('request', (request) => {
    if (!request.isNavigationRequest() || !request.url().startsWith('file:')) one.faults.push(request.url());
  });
  await page.exposeFunction('tellFault', (fault: string) => one.faults.push(fault));
  await page.addInitScript(`document.addEventListener('securitypolicyviolation',
    ({ violatedDirective, blockedURI }) => tellFault('policy: ' + violatedDirective + ' ' + blockedURI))`);
  await page.addInitScript(before);
  return one;
}
