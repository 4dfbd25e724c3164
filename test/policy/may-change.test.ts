import { expect, test } from '@jest/globals';
import { modeOnly, type PolicyDocument, type Rule } from '../../src/policy/document.js';
import { mayChange } from '../../src/policy/may-change.js';
import { loadPolicies } from '../../src/policy/load.js';

function planWith(rule: Partial<Rule>): PolicyDocument {
  const full: Rule = {
    reference: { id: 'x', file: 'x.yaml', line: 1 },
    tools: ['run_shell_command'],
    commands: undefined,
    paths: undefined,
    when: undefined,
    decision: 'allow',
    reason: '',
    match: [],
    notMatch: [],
    ...rule,
  };
  return { ...modeOnly('plan'), rules: [full] };
}

const cases: [string, readonly PolicyDocument[], boolean][] = [
  ['mode plan', [modeOnly('plan')], false],
  ['mode manual', [modeOnly('manual')], true],
  ['mode auto_edit', [modeOnly('auto_edit')], true],
  ['yolo beside plan', [modeOnly('yolo'), modeOnly('plan')], false],
  ['plan and a rule for any command', [planWith({})], true],
  [
    'plan and tests',
    [
      planWith({
        commands: [
          ['git', 'log'],
          ['npm', 'test'],
        ],
      }),
    ],
    true,
  ],
  ['plan and looking', [planWith({ commands: [['git', 'log'], ['ls'], ['command', '-v']] })], false],
  ['plan and listing branches', [planWith({ commands: [['git', 'branch']], exact: true })], false],
  ['plan and branches', [planWith({ commands: [['git', 'branch']] })], true],
  ['plan and git commit', [planWith({ commands: [['git', 'commit']] })], true],
  ['plan and edits that are asked for', [planWith({ tools: ['replace'], decision: 'ask' })], true],
  ['plan and edits that are denied', [planWith({ tools: ['replace'], decision: 'deny' })], false],
  ['plan and reading', [planWith({ tools: ['read_file', 'web_fetch'] })], false],
  ['plan and tools of a server', [planWith({ tools: ['mcp:files/*'] })], true],
];
test.each(cases)('%s', (_what, documents, expected) => {
  expect(mayChange(documents)).toBe(expected);
});

test.each([
  ['read-only', false],
  ['review', false],
  ['codemod', true],
  ['ci-fix', true],
  ['yolo', true],
])('the preset %s: %s', async (name, expected) => {
  expect(mayChange(await loadPolicies({ policies: [name], mode: undefined, folder: '/' }))).toBe(expected);
});
