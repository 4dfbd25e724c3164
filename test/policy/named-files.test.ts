import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createEngine } from '../../src/policy/engine.js';
import { namedFiles } from '../../src/policy/named-files.js';
import type { PolicyDocument } from '../../src/policy/document.js';
import { engine, load } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const settings = () => ({
  workspace: ws.path(),
  writeProtected: [ws.path('.bosun/runs'), ws.path('policy.yaml')],
});
const read = (text: string, name?: string) => load(ws.path(), `version: 1\n${text}`, name);
const named = async (...texts: string[]) => {
  const documents: PolicyDocument[] = [];
  for (const [i, text] of texts.entries()) documents.push(await read(text, `p${i}.yaml`));
  return namedFiles(documents, settings());
};

describe('a file that is named must be inside the boundary, and the line says where it is named', () => {
  const cases: [string, RegExp][] = [
    ['context: {files: [../x.md]}', /p0\.yaml:2:19: \.\.\/x\.md is outside the workspace/],
    ['context: {files: [a.md, /etc/hostname]}', /p0\.yaml:2:25: \/etc\/hostname is outside/],
    ['context: {files: [.env]}', /p0\.yaml:2:19: \.env is a file that holds secrets/],
    ['context: {files: [a/x.pem]}', /holds secrets/],
    ['context: {files: [secret/a.md]}\nworkspace: {read_deny: ["secret/**"]}', /holds secrets/],
    ['context: {files: ["a\\0b"]}', /p0\.yaml:2:19: .*cannot be resolved/],
    ['memory: {file: ../x.md}', /p0\.yaml:2:10: \.\.\/x\.md is outside/],
    ['memory: {file: .git/x}', /\.git\/x is protected/],
    ['memory: {file: .bosun/runs/x.md}', /runs\/x\.md is protected/],
    ['memory: {file: policy.yaml}', /policy\.yaml is protected/],
    ['memory: {file: .env}', /holds secrets/],
    ['memory: {file: notes.md}\nworkspace: {write_deny: ["*.md"]}', /notes\.md is protected/],
  ];
  test.each(cases)('%s', async (text, message) => {
    await expect(named(text)).rejects.toThrow(message);
  });

  test('of every policy', async () => {
    const other = 'workspace: {read_deny: ["*.md"]}';
    await expect(named('context: {files: [a.md]}', other)).rejects.toThrow(/p0\.yaml:2:19: a\.md .*secrets/);
  });

  test('also behind links', async () => {
    writeFileSync(ws.outside('x.md'), 'x');
    symlinkSync(ws.outside('x.md'), ws.path('GEMINI.md'));
    await expect(named('context: {files: [GEMINI.md]}')).rejects.toThrow(/outside the workspace/);
  });
});

test('what is inside is found where it really is', async () => {
  symlinkSync('AGENTS.md', ws.path('GEMINI.md'));
  mkdirSync(ws.outside('shared'));
  const files = await named(
    'context: {files: [GEMINI.md, AGENTS.md, ../shared/x.md]}\nmemory: {file: .bosun/memory.md}\nworkspace: {include: [../shared]}',
  );
  expect(files.context.map(({ path, real }) => [path, real])).toEqual([
    ['GEMINI.md', ws.path('AGENTS.md')],
    ['../shared/x.md', ws.outside('shared/x.md')],
  ]);
  expect(files.memory).toMatchObject({ path: '.bosun/memory.md', real: ws.path('.bosun/memory.md') });
});

test('a memory behind a link is refused: the policy means one file', async () => {
  mkdirSync(ws.path('src'));
  symlinkSync('src', ws.path('.bosun'));
  await expect(named('memory: {file: .bosun/memory.md}')).rejects.toThrow(/through a symbolic link/);
});

test('a policy that lifts the protection may remember there', async () => {
  const files = await named('memory: {file: .git/notes.md}\nworkspace: {write_allow: [".git/notes.md"]}');
  expect(files.memory?.path).toBe('.git/notes.md');
});

describe('of several policies', () => {
  const one = 'memory: {file: a.md}';

  test('all must name the same memory', async () => {
    expect((await named(one, 'memory: {file: ./a.md}')).memory?.real).toBe(ws.path('a.md'));
    await expect(named(one, 'memory: {file: b.md}')).rejects.toThrow(
      /p1\.yaml:2:10: b\.md is not the memory that .*p0\.yaml:2:10 names, a\.md/,
    );
  });

  test('one that names none does not allow remembering', async () => {
    const { memory, unused } = await named(one, 'mode: yolo');
    expect([memory, unused?.path]).toEqual([undefined, 'a.md']);
  });

  test('each adds its context', async () => {
    const { context } = await named('context: {files: [a, b]}', 'context: {files: [b, c]}');
    expect(context.map(({ path }) => path)).toEqual(['a', 'b', 'c']);
  });
});

test('a base gives its context and memory to what extends it', async () => {
  await read('context: {files: [base.md]}\nmemory: {file: base-memory.md}', 'base.yaml');
  const plain = await read('extends: [./base.yaml]');
  const own = await read('extends: [./base.yaml]\ncontext: {files: [own.md]}\nmemory: {file: own-memory.md}');
  expect([plain.context.map(({ path }) => path), plain.memory?.path]).toEqual([
    ['base.md'],
    'base-memory.md',
  ]);
  expect(plain.memory?.place).toBe(`${join(ws.path(), 'base.yaml')}:3:10`);
  expect([own.context.map(({ path }) => path), own.memory?.path]).toEqual([
    ['base.md', 'own.md'],
    'own-memory.md',
  ]);
});

describe('save_memory', () => {
  const memory = 'memory: {file: .bosun/memory.md}';
  const deciding = async (text: string, untrusted = false) => {
    const policy = await engine(ws.path(), `version: 1\n${text}`, { untrusted });
    const paths = [{ path: '.bosun/memory.md', access: 'write' as const }];
    const answer = await policy.decide({ tool: 'save_memory', kind: 'think', paths, params: { fact: 'x' } });
    const offered = policy.mayOffer({ name: 'save_memory', kind: 'think' });
    return ['decision' in answer ? answer.decision : 'outside', offered];
  };
  const deny = 'rules: [{id: no, tool: save_memory, decision: deny}]';
  const strangers = 'rules: [{id: no, tool: save_memory, when: untrusted, decision: deny}]';

  test.each(['plan', 'manual', 'auto_edit', 'yolo'])(
    'is allowed in mode %s only if it is set',
    async (mode) => {
      expect(await deciding(`mode: ${mode}\n${memory}`)).toEqual(['allow', true]);
      expect(await deciding(`mode: ${mode}`)).toEqual(['deny', false]);
    },
  );

  test('can be refused by a rule, and no rule allows it where it is not set', async () => {
    expect(await deciding(`${memory}\n${deny}`)).toEqual(['deny', false]);
    expect(await deciding(`${memory}\n${strangers}`)).toEqual(['allow', true]);
    expect(await deciding(`${memory}\n${strangers}`, true)).toEqual(['deny', false]);
    expect(await deciding('rules: [{id: yes, tool: save_memory, decision: allow}]')).toEqual(['deny', false]);
    expect(await deciding(`${memory}\ntools: {exclude: [save_memory]}`)).toEqual(['deny', false]);
  });

  test('does not make the file writable for other tools', async () => {
    const document = await read(memory);
    const policy = createEngine(document, { ...settings(), home: undefined, untrusted: false });
    const paths = [{ path: '.bosun/memory.md', access: 'write' as const }];
    const request = { tool: 'write_file', kind: 'edit' as const, paths, params: {} };
    expect(await policy.decide(request)).toMatchObject({ decision: 'deny', default: 'plan' });
  });

  test.each(['read-only', 'review', 'codemod', 'ci-fix'])(
    'is refused by preset %s with strangers',
    async (name) => {
      expect(await deciding(`extends: [${name}]\n${memory}`, true)).toEqual(['deny', false]);
    },
  );
});

describe('does not load', () => {
  const cases: [string, RegExp][] = [
    ['memory: {}', /`memory\.file` is missing/],
    ['memory: {file: ""}', /`memory\.file`/],
    ['memory: {file: " "}', /`memory\.file`/],
    ['context: {files: []}', /`context\.files`/],
    ['context: {files: GEMINI.md}', /`context\.files` must be a list/],
    ['context: {file: [x]}', /did you mean `files`/],
  ];
  test.each(cases)('%s', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });
});
