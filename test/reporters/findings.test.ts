import { describe, expect, test } from '@jest/globals';
import { compileUserSchema } from '../../src/lib/schema.js';
import { FINDINGS_SCHEMA } from '../../src/protocol/findings.js';
import { foundIn, findingsFault, type Answer } from '../../src/reporters/findings/answers.js';
import { codeQualityText } from '../../src/reporters/findings/code-quality.js';
import { findingsIn } from '../../src/reporters/findings/read-findings.js';
import { sarifText } from '../../src/reporters/findings/sarif.js';

const finding = { file: 'src/a.ts', line: 3, rule: 'unused', severity: 'warning', message: 'x is not used' };

function answer(structured: unknown, more: Partial<Answer> = {}): Answer {
  return { workspace: '/work', status: 'completed', exitCode: 0, structured, ...more };
}

const sarifOf = (...answers: Answer[]) => JSON.parse(sarifText(answers)).runs[0];

describe('an answer with findings', () => {
  test.each([
    ['none', { findings: [] }],
    ['the least', { findings: [finding] }],
    ['everything', { findings: [{ ...finding, end_line: 9, fingerprint: 'f' }] }],
    ['no list', {}],
    ['null', null],
    ['a list itself', [finding]],
    ['no file', { findings: [{ ...finding, file: '' }] }],
    ['a line 0', { findings: [{ ...finding, line: 0 }] }],
    ['a line that no file has', { findings: [{ ...finding, line: 1e21 }] }],
    ['half a line', { findings: [{ ...finding, line: 1.5 }] }],
    ['a severity of its own', { findings: [{ ...finding, severity: 'fatal' }] }],
    ['a missing message', { findings: [{ ...finding, message: undefined }] }],
    ['one bad of two', { findings: [finding, { ...finding, rule: 7 }] }],
  ])('is read as its schema says: %s', async (_, value) => {
    const faultsOf = await compileUserSchema(FINDINGS_SCHEMA);
    const isValid = value !== null && faultsOf(JSON.parse(JSON.stringify(value))).length === 0;
    expect(findingsIn(value) !== undefined).toBe(isValid);
  });

  test('names files inside the workspace by their relative path', () => {
    const files = [
      'src/a.ts',
      './src/a.ts',
      '/work/src/a.ts',
      '../b.ts',
      '/etc/passwd',
      '/work',
      'a b/ü#.ts',
    ];
    const found = foundIn([answer({ findings: files.map((file) => ({ ...finding, file })) })]);
    const paths = ['src/a.ts', 'src/a.ts', 'src/a.ts', undefined, undefined, undefined, 'a b/ü#.ts'];
    expect(found.map(({ path }) => path)).toEqual(paths);
    expect(new Set(found.map(({ fingerprint }) => fingerprint)).size).toBe(files.length);
  });

  test('has a fingerprint of its own, whatever the model calls the others', () => {
    const given = ['a', 'a', 'a:2', 'a:2', 'a'];
    const found = foundIn([answer({ findings: given.map((fingerprint) => ({ ...finding, fingerprint })) })]);
    const fingerprints = found.map(({ fingerprint }) => fingerprint);
    expect(fingerprints.slice(0, 2)).toEqual(['a', 'a:2']);
    expect(new Set(fingerprints).size).toBe(given.length);
  });

  test('may have half a character in it', () => {
    const odd = answer({ findings: [{ ...finding, file: '\ud800.ts', message: 'x\udc00' }] });
    const [result] = sarifOf(odd).results;
    expect(result.locations[0].physicalLocation.artifactLocation.uri).toBe('%EF%BF%BD.ts');
    expect(result.message.text).toBe('x\ufffd');
    expect(codeQualityText([odd])).toContain('"path": "\ufffd.ts"');
  });

  test('keeps its fingerprint when lines move, and when other findings come', () => {
    const [one] = foundIn([answer({ findings: [finding] })]);
    const [, moved] = foundIn([
      answer({
        findings: [
          { ...finding, rule: 'other' },
          { ...finding, line: 30 },
        ],
      }),
    ]);
    expect(moved?.fingerprint).toBe(one?.fingerprint);
  });
});

describe('SARIF', () => {
  test('has rules, places and levels', () => {
    const run = sarifOf(
      answer({ findings: [finding, { ...finding, file: 'a b.ts', end_line: 5, severity: 'error' }] }),
    );
    expect(run.tool.driver.rules).toEqual([{ id: 'unused' }]);
    expect(run.invocations).toEqual([
      { executionSuccessful: true, exitCode: 0, toolExecutionNotifications: [] },
    ]);
    expect(run.results).toMatchObject([
      { ruleId: 'unused', ruleIndex: 0, level: 'warning', message: { text: 'x is not used' } },
      { level: 'error' },
    ]);
    expect(run.results.map((one: { locations: unknown[] }) => one.locations)).toEqual([
      [
        {
          physicalLocation: {
            artifactLocation: { uri: 'src/a.ts', uriBaseId: '%SRCROOT%' },
            region: { startLine: 3 },
          },
        },
      ],
      [
        {
          physicalLocation: {
            artifactLocation: { uri: 'a%20b.ts', uriBaseId: '%SRCROOT%' },
            region: { startLine: 3, endLine: 5 },
          },
        },
      ],
    ]);
  });

  test('has no place for a file outside, and says which it was', () => {
    const [result] = sarifOf(answer({ findings: [{ ...finding, file: '/etc/hosts' }] })).results;
    expect(result).toMatchObject({ locations: [], message: { text: '/etc/hosts:3: x is not used' } });
  });

  test('never takes an answer without findings for a clean one', () => {
    const prose = sarifOf(answer(undefined));
    expect(prose.invocations[0]).toMatchObject({ executionSuccessful: false, exitCode: 0 });
    expect(prose.invocations[0].toolExecutionNotifications[0].message.text).toMatch(
      /--output-schema findings/,
    );
    const failed = sarifOf(answer({ findings: [finding] }, { status: 'denied', exitCode: 3, message: 'no' }));
    expect(failed.invocations[0]).toMatchObject({ executionSuccessful: false, exitCode: 3 });
    expect(failed.results).toHaveLength(1);
  });

  test('joins the answers of many tasks', () => {
    const other = { ...finding, rule: 'other' };
    const run = sarifOf(
      answer({ findings: [finding] }, { task: 'a' }),
      answer(null, { task: 'b', status: 'pending', exitCode: null }),
      answer({ findings: [other] }, { task: 'c' }),
    );
    expect(run.results).toHaveLength(2);
    // The exit code of a task that has not ended is not 0.
    expect(run.invocations[0]).not.toHaveProperty('exitCode');
    expect(run.invocations[0].toolExecutionNotifications).toHaveLength(1);
    expect(findingsFault(answer(null, { task: 'b', status: 'pending' }))).toBe('task b ended as pending');
  });
});

describe('the exit code in SARIF', () => {
  test.each([
    [[0, 0], 0],
    [[0, 3, 7], 3],
    [[null, 3], 3],
    [[0, null], undefined],
  ])('of runs that ended %j is %j', (codes, expected) => {
    const answers = codes.map((exitCode) => answer({ findings: [] }, { exitCode }));
    expect(sarifOf(...answers).invocations[0].exitCode).toBe(expected);
  });
});

describe('Code Quality', () => {
  test('has an issue for each finding, and one for an answer without', () => {
    const issues = JSON.parse(
      codeQualityText([answer({ findings: [finding] }), answer('fine', { task: 'b' })]),
    );
    expect(issues).toMatchObject([
      { severity: 'blocker', check_name: 'bosun', description: expect.stringContaining('task b') },
      {
        check_name: 'unused',
        description: 'x is not used',
        severity: 'minor',
        location: { path: 'src/a.ts', lines: { begin: 3 } },
      },
    ]);
  });
});
