import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { parseYaml } from '../../../src/lib/yaml.js';
import { inBrowser, openPage } from '../../helpers/browser.js';
import { call, text } from '../../helpers/gemini-server.mjs';
import { runCli, serverEnv } from '../../helpers/run-cli.js';
import { place, serve } from '../../helpers/served.js';
import { shareProcess } from '../../helpers/this-process.js';

shareProcess();

/** The page of a run that needed a rule for each kind of thing. */
async function pageOfRun() {
  const where = place({ 'src/a & <b>.txt': 'hello\n', 'src/a.txt': '' });
  const server = await serve([
    {
      parts: [
        call('run_shell_command', { command: "cat 'src/a & <b>.txt' && ls src" }, { id: '1' }),
        call('write_file', { file_path: 'src/c.txt', content: 'x' }, { id: '2' }),
      ],
    },
    { parts: [text('Done.')] },
  ]);
  const page = join(where.root, 'run.html');
  const args = [
    'run',
    '--policy',
    'yolo',
    '--learn',
    join(where.root, 'l.yaml'),
    '--reporter',
    `html=${page}`,
  ];
  const { code, stderr } = await runCli([...args, '-m', 'gemini-test', '-p', 'x', '-C', where.workspace], {
    env: serverEnv(server, where),
  });
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return { page, policy: readFileSync(join(where.root, 'l.yaml'), 'utf8') };
}

function rulesIn(yaml: string): readonly { readonly decision: string }[] {
  const parsed = parseYaml(yaml);
  if (!parsed.ok) throw new Error(parsed.message);
  return (parsed.value as { rules: readonly { readonly decision: string }[] }).rules;
}

inBrowser('the button copies the rules as they stand in the policy', async () => {
  const { page: file, policy } = await pageOfRun();
  const page = await openPage(file, { permissions: ['clipboard-read', 'clipboard-write'] });
  const button = page.locator('button.copy');
  expect(await button.textContent()).toBe('Copy');
  await button.click();
  await page.locator('button.copy', { hasText: 'Copied' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toContain("cat 'src/a & <b>.txt'");
  expect(rulesIn(copied)).toEqual(rulesIn(policy).filter(({ decision }) => decision === 'allow'));
  expect(rulesIn(copied).length).toBeGreaterThan(1);
});

inBrowser('where the browser forbids that, the rules are selected', async () => {
  const { page: file } = await pageOfRun();
  const page = await openPage(file, {
    before: `Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: () => Promise.reject(new Error('forbidden')) },
    });`,
  });
  await page.locator('button.copy').click();
  await page.locator('button.copy', { hasText: 'Selected: press Ctrl+C' }).waitFor();
  const selected = await page.evaluate<string>('getSelection().toString()');
  expect(selected.trim()).toBe((await page.locator('#learnt-rules').textContent())?.trim());
});
