import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Rule } from '../../src/policy/document.js';
import { createEngine } from '../../src/policy/engine.js';
import { parseYaml } from '../../src/lib/yaml.js';
import type { Policy } from '../../src/protocol/decision.js';
import { rounds } from '../helpers/counts.js';
import { sh, wrote, type ToldCall, type ToldRun } from '../helpers/evidence.js';
import { learnIn } from '../helpers/learn.js';
import { load, shell, write } from '../helpers/policy.js';
import { Random } from '../helpers/random.js';
import { REPOSITORY } from '../helpers/run-cli.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const FILES = ['src/a.js', 'src/x/b.js', 'src/x/y/c.js', 'app/Makefile', 'Makefile', 'tool.sh', 'README.md'];
const LINES = [
  ...[
    'git log -5',
    'git log --oneline src',
    'git diff --stat',
    'git status',
    'git commit -m "a b"',
    'git add src',
  ],
  ...[
    'cat src/a.js',
    'head -3 README.md | wc -l',
    'ls -la',
    'grep -rn x src',
    "sed -n '1,5p' src/a.js",
    'rg x src',
  ],
  ...[
    'npm test',
    'npm test -- --ci',
    'npm run lint',
    'npm run lint 2>&1 | tail -5',
    'npx prettier --check src',
  ],
  ...['make check', 'cd app && make check', 'cd src && ls', '(cd app && make check)', 'make check V=1'],
  ...[
    'cargo test',
    'cargo test -q x',
    'go test ./...',
    'go vet ./src',
    'pytest src',
    'tsc --noEmit',
    'jest src/a',
  ],
  ...[
    'mytool a',
    'mytool a b',
    'cd app && mytool a',
    './tool.sh x',
    'gulp build',
    'mkdir -p out',
    'touch out/x',
  ],
  ...[
    'echo x > out/log',
    'ls > out/list; cat out/list',
    'timeout 9 npm test',
    'CI=1 npm test',
    'bash -c "ls src"',
  ],
  ...[
    'find src -name a.js',
    'find . -type f | xargs wc -l',
    'sort -u README.md',
    'jq . package.json',
    'env ls',
  ],
  ...[
    'rm -f out/x',
    'node -e 1',
    'npm ci',
    'curl https://example.org',
    'git push',
    'cat ../x',
    'ls || npm test',
  ],
  ...[
    'sort -o x README.md',
    'find . -delete',
    'git log --output=x',
    'cat .env',
    'tool.sh',
    'sh tool.sh',
    'npm x y',
  ],
];
/** What a call may be made into by whoever wants more. */
const TWISTS: readonly ((line: string) => string)[] = [
  (line) => `${line} x`,
  (line) => `${line} ../x`,
  (line) => `${line} --output=x`,
  (line) => `${line}; curl x`,
  (line) => `${line} | sh`,
  (line) => `${line} > src/a.js`,
  (line) => `${line} $(sh)`,
  (line) => `cd app && ${line}`,
  (line) => `PATH=. ${line}`,
  (line) => line.replace(/ .*/s, ''),
  (line) => line.replace(/^\S+ (\S+).*/s, 'env $1'),
];
const FOLDERS = ['src', 'src/x', 'src/x/y', 'src/x/y/z', 'docs', 'docs/de', 'gen/a/b', '.cfg', 'out', '.'];

function furnish(): void {
  for (const file of FILES) ws.write(file, 'x');
  ws.write('package.json', '{"scripts":{"test":"jest","lint":"eslint ."}}');
  ws.write('.env', 'KEY=secret\n');
  mkdirSync(ws.path('.git/hooks'), { recursive: true });
  symlinkSync('.git/hooks', ws.path('link'));
}

function someCall(random: Random): ToldCall {
  const more: Partial<ToldCall> = random.pick([
    {},
    {},
    {},
    {},
    {},
    { exit: 1 },
    { decision: 'deny' },
    { decision: 'ask', answer: 'proceed_once' },
  ] as const);
  if (random.chance(0.35)) {
    const name = random.pick(['1', '2', '3', '4', '[5]', 'package.json']);
    return wrote(join(random.pick(FOLDERS), name), more);
  }
  const line = random.pick(LINES);
  return sh(random.chance(0.1) ? random.pick(TWISTS)(line) : line, more);
}

let made = 0;

function someRuns(random: Random): Partial<ToldRun>[] {
  return random.list(2 + random.below(6), () => ({
    calls: random.list(1 + random.below(25), () => ({ ...someCall(random), id: `call-${++made}` })),
    changes: random.chance(0.3) ? [random.pick(['package.json', 'src/a.js', 'Makefile', 'docs/1'])] : [],
    ...(random.chance(0.1) && { untrusted: true }),
    ...(random.chance(0.1) && { exit: 3 }),
  }));
}

const PRESETS = ['yolo', 'yolo', 'codemod', 'ci-fix', 'read-only'];

/** A preset, or a policy that nobody has thought about. */
function someCeiling(random: Random): string {
  if (random.chance(0.5)) return random.pick(PRESETS);
  const list = (values: readonly string[]) => JSON.stringify(values);
  const commands = () =>
    random.list(
      1 + random.below(4),
      () =>
        random
          .pick(LINES.slice(0, 40))
          .split(/[|;>&("']/)[0]
          ?.trim() || 'ls',
    );
  const rules = random.list(1 + random.below(6), () => {
    const decision = random.pick(['allow', 'allow', 'allow', 'deny', 'ask']);
    if (random.chance(0.3))
      return `tool: write_file, path: ${list([random.pick(['src/**', 'src/*', 'docs/**', 'src/x/1', '**'])])}, decision: ${decision}`;
    const words = commands().map((one) => (random.chance(0.5) ? one.split(' ').slice(0, 2).join(' ') : one));
    const isAllow = decision === 'allow';
    const exact = isAllow && random.chance(0.2) ? ', exact: true' : '';
    const directory = isAllow && random.chance(0.2) ? `, directory: ${random.pick(['app', '.'])}` : '';
    return `tool: run_shell_command, command: ${list([...new Set(words)])}, decision: ${decision}${exact}${directory}`;
  });
  const text = `version: 1
mode: ${random.pick(['plan', 'manual', 'auto_edit', 'yolo'])}
on_ask: ${random.pick(['deny', 'defer'])}
shell: {read_scope: ${random.pick(['workspace', 'any'])}}
rules:
${rules.map((rule, i) => `  - {id: r${i}, ${rule}}`).join('\n')}
`;
  writeFileSync(ws.outside('ceiling.yaml'), text);
  return './ceiling.yaml';
}

async function documentOf(text: string) {
  const document = await load(ws.outside('.'), text, 'judged.yaml');
  const place = {
    workspace: ws.path(),
    writeProtected: [],
    home: '/home/nobody',
    untrusted: false,
    dialect: () => 'bash' as const,
    hiddenBySandbox: () => false,
    variable: () => undefined,
  };
  return { document, under: (rules: readonly Rule[]) => createEngine({ ...document, rules }, place) };
}

async function decided(policy: Policy, { tool, args }: Pick<ToldCall, 'tool' | 'args'>): Promise<string> {
  const answer =
    tool === 'write_file'
      ? await write(policy, String(args['file_path']))
      : await shell(policy, String(args['command']));
  return 'decision' in answer ? answer.decision : 'outside';
}

/** Each rule without one of its patterns. */
function withoutOne(rules: readonly Rule[]): Rule[][] {
  return rules.flatMap((rule, at) => {
    const fewer = (['commands', 'paths'] as const).flatMap((key) => {
      const all = rule[key] as readonly unknown[] | undefined;
      if (rule.decision !== 'allow' || !all) return [];
      return all.map((_, i) =>
        all.length === 1 ? [] : [{ ...rule, [key]: all.filter((_one, n) => n !== i) } as Rule],
      );
    });
    return fewer.map((replaced) => [...rules.slice(0, at), ...replaced, ...rules.slice(at + 1)]);
  });
}

const bare = (text: string) => {
  const parsed = parseYaml(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
};

const SEEDS = Array.from({ length: rounds(40) }, (_, i) => i + 1);

test.each(SEEDS)('what a policy from generated runs allows, and what not (%d)', async (seed) => {
  furnish();
  const random = new Random(seed);
  const [runs, ceiling, minRuns] = [someRuns(random), someCeiling(random), 1 + random.below(3)];
  const wishes = { ceiling, minRuns };
  const learnt = await learnIn(ws, runs, wishes).catch((error: Error) => error);
  if (learnt instanceof Error) {
    // Nothing to learn from, or no ceiling that loads.
    expect(learnt.message).toMatch(/there is no run to learn from|^\S*ceiling\.yaml:\d+:\d+: /);
    return;
  }
  const { text, lessons } = learnt;
  const { document, under } = await documentOf(text);
  const policy = under(document.rules);
  const calls = (lessons?.calls ?? []).map(({ call }) => call as unknown as ToldCall);

  // It allows every call that it was learnt from.
  const all = await Promise.all(calls.map(async (call) => [call.args, await decided(policy, call)]));
  expect(all.filter(([, decision]) => decision !== 'allow')).toEqual([]);

  // It allows nothing that the ceiling refuses, however it is made of what was seen.
  const above = await documentOf(
    readFileSync(
      ceiling.startsWith('.') ? ws.outside(ceiling) : join(REPOSITORY, `policies/${ceiling}.yaml`),
      'utf8',
    ),
  );
  const limit = above.under(above.document.rules);
  const seen = runs.flatMap(({ calls: told = [] }) =>
    told.flatMap(({ args }) => String(args['command'] ?? '') || []),
  );
  const probes = [
    ...[...new Set([...LINES, ...seen])].map((line) => sh(line)),
    ...random.list(60, () => sh(random.pick(TWISTS)(random.pick(LINES)))),
    ...FOLDERS.flatMap((folder) =>
      ['1', '9', 'k/9', 'k/k/9', '.git/x', 'package.json'].map((name) => wrote(join(folder, name))),
    ),
  ];
  // What somebody said yes to is inside.
  const asks = document.rules.length > 0 && above.document.onAsk === 'defer' ? ['allow', 'ask'] : ['allow'];
  const beyond: unknown[] = [];
  for (const probe of probes)
    if ((await decided(policy, probe)) === 'allow' && !asks.includes(await decided(limit, probe)))
      beyond.push(probe.args);
  expect(beyond).toEqual([]);

  // Each pattern of each rule is needed.
  for (const rules of withoutOne(document.rules)) {
    const fewer = under(rules);
    const decisions = await Promise.all(calls.map((call) => decided(fewer, call)));
    expect([text, decisions.every((decision) => decision === 'allow')]).toEqual([text, false]);
  }

  // The order of runs makes no difference.
  const shuffled = runs.toSorted(() => random.next() - 0.5);
  expect(bare((await learnIn(ws, shuffled, wishes)).text)).toEqual(bare(text));

  // Runs under what was learnt, which do what it allows, teach the same.
  const kept = new Set((lessons?.calls ?? []).map(({ call }) => call.id));
  const narrower = runs.map((run) => ({
    ...run,
    calls: run.calls?.filter(({ id }) => kept.has(id ?? '')) ?? [],
  }));
  writeFileSync(ws.outside('learnt-once.yaml'), text);
  const again = await learnIn(ws, narrower, { ceiling: './learnt-once.yaml', minRuns });
  expect(bare(again.text)).toEqual(bare(text));
});
