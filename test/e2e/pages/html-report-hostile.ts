import { expect } from '@jest/globals';
import type { RunEvent } from '../../../src/protocol/event.js';
import { forgive, inBrowser, openPage } from '../../helpers/browser.js';
import { fileOf } from '../../helpers/html-report.js';
import { INIT, result, STATS, type Timed } from '../../helpers/recorded.js';

/** Each would set `pwned` if it were ever read as anything but text. */
const HOSTILE = [
  '<script>window.pwned=1</script>',
  '</script><script>window.pwned=1</script>',
  '<!--<script>window.pwned=1</script>-->',
  ']]><script>window.pwned=1</script>',
  '"><img src=x onerror="window.pwned=1">',
  "'><svg onload='window.pwned=1'>",
  '</title></style></textarea></pre><iframe srcdoc="<script>parent.pwned=1</script>">',
  '<a href="javascript:window.pwned=1">click</a>',
  'javascript:window.pwned=1',
  "{{constructor.constructor('window.pwned=1')()}}",
  '${window.pwned=1}',
  '<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/">',
  '<link rel="stylesheet" href="https://evil.example/x.css"><style>@import "https://evil.example/y.css"</style>',
  '<form action="https://evil.example/"><button id="query">x</button></form>',
  '&lt;script&gt;window.pwned=1&lt;/script&gt;',
  '\u2028\u2029\u0000\u001b[31m\udfff\ud800',
  '\u202egnp.exe\u202c \u2066x\u2069 \u{e0041}\u{e0042}',
  '__proto__',
  'constructor',
].join(' ');

function everywhere(hostile: string): Timed[] {
  const rule = { id: hostile, file: hostile, line: 1 };
  const tool_id = hostile;
  const commands = [{ words: [hostile, hostile], decision: 'deny', rule, reason: hostile }] as const;
  const parameters = { command: hostile, [hostile]: hostile, nested: { [hostile]: [hostile] } };
  const events: RunEvent[] = [
    {
      ...INIT,
      model: hostile,
      cwd: hostile,
      provider: hostile,
      auth: hostile,
      git_head: hostile,
      policy: [{ file: hostile, sha256: hostile }],
      mcp_servers: [{ name: hostile, status: 'failed', tools: 0, latency_ms: 1, error: hostile }],
      system: hostile,
      tools: [hostile],
    },
    { type: 'message', role: 'user', content: hostile },
    { type: 'thought', turn: 0, content: hostile },
    {
      type: 'turn',
      index: 0,
      model: hostile,
      finish_reason: hostile,
      latency_ms: 5,
      usage: { prompt: 5 },
      content: { role: 'model', parts: [{ text: `${hostile}\n\`\`\`${hostile}\n${hostile}\n\`\`\`` }] },
    },
    { type: 'tool_use', tool_name: hostile, tool_id, parameters, kind: 'execute', turn: 0 },
    { type: 'policy_decision', tool_id, decision: 'deny', rule, reason: hostile, commands },
    {
      type: 'approval_request',
      tool_id,
      tool_call_id: tool_id,
      tool_name: hostile,
      reason: hostile,
      options: ['cancel'],
      file_edit_details: {
        file_name: hostile,
        file_path: hostile,
        old_content: '',
        new_content: hostile,
        formatted_diff: `@@ ${hostile}\n+${hostile}`,
      },
    },
    {
      type: 'approval_response',
      tool_id,
      tool_call_id: tool_id,
      selected_option_id: 'cancel',
      source: 'command',
      reason: hostile,
    },
    {
      type: 'tool_result',
      tool_id,
      status: 'error',
      output: { [hostile]: hostile },
      error: { type: 'policy_denied', message: hostile },
      duration_ms: 1,
      change: {
        path: hostile,
        diff: `--- ${hostile}\n+${hostile}\n-${hostile}`,
        lines_added: 1,
        lines_removed: 1,
      },
      process: { exit_code: null, signal: hostile },
      full_output: hostile,
    },
    { type: 'tool_result', tool_id: `${hostile}2`, status: 'success', output: hostile, duration_ms: 1 },
    { type: 'todos', todos: [{ description: hostile, status: 'pending' }] },
    { type: 'retry', attempt: 1, wait_ms: 1, class: hostile, model: hostile, message: hostile },
    { type: 'error', severity: 'error', class: hostile, message: hostile },
    { type: hostile, [hostile]: hostile, message: hostile } as unknown as RunEvent,
    result({
      status: hostile as 'denied',
      reason: hostile,
      response: hostile,
      error: { class: 'denied', code: hostile, message: hostile, hint: hostile },
      denials: [{ tool_id, tool_name: hostile, rule, reason: hostile }],
      pending: [{ tool_call_id: hostile, tool_name: hostile, reason: hostile, options: [] }],
      warnings: [hostile],
      transcript: hostile,
      stats: {
        ...STATS,
        tool_calls: 1,
        tools: { [hostile]: { calls: 1, success: 0, error: 1, cancelled: 0, duration_ms: 1 } },
        models: { [hostile]: {} },
      },
    }),
  ];
  return events.map((event, i) => [i, event]);
}

inBrowser('whatever a model or a tool says is text, wherever it stands', async () => {
  const page = await openPage(fileOf(everywhere(HOSTILE)));
  await page.locator('#open-all').click();
  const rows = await page.locator('#rows > li').count();
  await page.waitForFunction((n) => document.querySelectorAll('.detail').length === n, rows);
  await page.evaluate(() => {
    for (const fold of document.querySelectorAll<HTMLDetailsElement>('.detail details')) fold.open = true;
  });
  await page.locator('#query').fill('"><img');
  await page.locator('#rows[aria-busy=false]').waitFor({ state: 'attached' });
  const found = await page.evaluate(() => ({
    pwned: 'pwned' in window,
    elements: document.querySelectorAll('img, iframe, object, embed, base, link, video').length,
    scripts: document.querySelectorAll('script:not([type])').length,
    metas: document.querySelectorAll('meta').length,
    forms: document.querySelectorAll('form').length,
    handlers: [...document.querySelectorAll('*')].filter((element) =>
      element.getAttributeNames().some((name) => name.startsWith('on')),
    ).length,
    links: [...document.querySelectorAll('a')].filter(
      (link) => !/^#(main|story|e\d+)$/.test(link.getAttribute('href') ?? ''),
    ).length,
  }));
  expect(found).toEqual({ pwned: false, elements: 0, scripts: 1, metas: 5, forms: 2, handlers: 0, links: 0 });
  expect(await page.locator('.answer').innerText()).toContain('</script><script>window.pwned=1</script>');
});

inBrowser('characters that hide or turn text are shown by name', async () => {
  const page = await openPage(fileOf(everywhere(HOSTILE)));
  const text = await page.locator('.answer').innerText();
  expect(text).toContain('‹U+202E›gnp.exe‹U+202C› ‹U+2066›x‹U+2069› ‹U+E0041›‹U+E0042›');
  expect(text).toContain('‹U+2028›‹U+2029›‹U+0000›‹U+001B›[31m‹U+DFFF›‹U+D800›');
  await page.locator('li.turn summary').click();
  const detail = await page.locator('li.turn .detail').innerText();
  expect(detail).toContain('‹U+202E›gnp.exe');
  const hidden = /[\u0000-\u0008\u200b\u2028-\u202e\u2066-\u2069\ud800-\udfff]/;
  expect(hidden.test(await page.locator('body').innerText())).toBe(false);
});

inBrowser('the content policy would stop what might have slipped through', async () => {
  const page = await openPage(fileOf(everywhere('harmless')));
  forgive(page);
  const stopped = await page.evaluate(async () => {
    const violations: string[] = [];
    const violated = (times: number) =>
      new Promise<void>((resolve) => {
        document.addEventListener('securitypolicyviolation', ({ violatedDirective }) => {
          violations.push(violatedDirective);
          if (violations.length === times) resolve();
        });
      });
    const all = violated(4);
    try {
      document.body.innerHTML = '<p>replaced</p>';
    } catch {
      // The violation tells of it.
    }
    const style = document.createElement('style');
    style.append('body { display: none }');
    const image = document.createElement('img');
    image.src = 'https://evil.example/x.png';
    document.head.append(style);
    document.body.append(image);
    void fetch('https://evil.example/').catch(() => {});
    await all;
    return { violations: violations.toSorted(), shown: document.body.checkVisibility() };
  });
  expect(stopped.violations).toEqual([
    'connect-src',
    'img-src',
    'require-trusted-types-for',
    'style-src-elem',
  ]);
  expect(stopped.shown).toBe(true);
});
