import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readAction } from '../helpers/composite-action.js';
import { sampled } from '../helpers/counts.js';
import { REPOSITORY } from '../helpers/run-cli.js';
import { place } from '../helpers/served.js';

/**
 * A machine of small programs: what bubblewrap needs to work there, and what sudo can do about it. Nothing of the
 * real machine is touched: sudo writes down what it was told, and plays its effects in a folder.
 */
interface Machine {
  /** What must have happened before bwrap works: words of a command that sudo gets. */
  readonly worksAfter: string;
  readonly hasBwrap?: boolean;
  readonly hasSudo?: boolean;
  readonly installs?: boolean;
}

function prepare(
  { worksAfter, hasBwrap = true, hasSudo = true, installs = true }: Machine,
  env: Record<string, string>,
) {
  const { root, home } = place();
  const [bin, log, profiles, extra] = ['bin', 'log', 'apparmor.d', 'extra'].map((name) =>
    join(root, name),
  ) as [string, string, string, string];
  for (const folder of [bin, profiles, extra]) mkdirSync(folder);
  writeFileSync(log, 'start\n');
  const program = (name: string, lines: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${lines}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const bwrap = `grep -q '${worksAfter}' '${log}' || { echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1; }`;
  if (hasBwrap) program('bwrap', bwrap);
  writeFileSync(join(root, 'bwrap'), `#!/bin/sh\n${bwrap}\n`, { mode: 0o755 });
  program('id', 'echo 1001');
  program('apt-get', 'exit 1');
  program(
    'sudo',
    `shift
echo "$*" >> '${log}'
case "$*" in
  *'apt-get install'*) ${installs ? `touch '${extra}/bwrap-userns-restrict'; cp '${root}/bwrap' '${bin}/bwrap'` : 'exit 100'} ;;
  tee*) cat >> '${log}' ;;
  *) exit ${hasSudo ? 0 : 1} ;;
esac`,
  );
  const result = spawnSync('bash', [join(REPOSITORY, 'bin/action/sandbox.sh')], {
    env: {
      // The real bwrap must not be found where the machine has none.
      PATH: hasBwrap ? `${bin}:/usr/bin:/bin` : `${bin}:${ownPrograms(root)}`,
      HOME: home,
      INPUT_POLICY: 'codemod',
      RUNNER_ENVIRONMENT: 'github-hosted',
      BOSUN_APPARMOR_PROFILES: profiles,
      BOSUN_APPARMOR_EXTRA: extra,
      ...env,
    },
    encoding: 'utf8',
  });
  return {
    code: result.status,
    said: result.stdout + result.stderr,
    sudo: readFileSync(log, 'utf8').trim().split('\n').slice(1),
  };
}

/** A folder with the few real programs that the script and the played ones need. */
function ownPrograms(root: string): string {
  const folder = join(root, 'real');
  mkdirSync(folder);
  for (const name of ['sh', 'bash', 'grep', 'cat', 'cp', 'touch', 'uname', 'timeout', 'chmod']) {
    const found = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
    writeFileSync(join(folder, name), `#!/bin/sh\nexec ${found} "$@"\n`, { mode: 0o755 });
  }
  return folder;
}

test('leaves a machine alone where bubblewrap works', () => {
  const { code, said, sudo } = prepare({ worksAfter: 'start' }, {});
  expect([code, said.trim(), sudo]).toEqual([0, 'Sandbox: bubblewrap works', []]);
});

test('installs what is missing and loads the narrow profile of the distribution', () => {
  const { code, said, sudo } = prepare(
    { worksAfter: 'apparmor_parser -r .*bwrap-userns-restrict', hasBwrap: false },
    {},
  );
  expect([code, said.trim()]).toEqual([
    0,
    'Sandbox: loaded the AppArmor profile bwrap-userns-restrict for bubblewrap',
  ]);
  expect(sudo.filter((line) => /apt-get install/.test(line))).toEqual([
    expect.stringMatching(/--no-install-recommends .*bubblewrap apparmor-profiles$/),
  ]);
  expect(sudo.join('\n')).not.toMatch(/sysctl|tee/);
});

test('writes a profile for bwrap alone as the last resort', () => {
  const { code, said, sudo } = prepare({ worksAfter: 'apparmor_parser -r .*bosun-bwrap' }, {});
  expect([code, said.trim()]).toEqual([
    0,
    'Sandbox: loaded an AppArmor profile that lets bubblewrap make namespaces',
  ]);
  expect(sudo.join('\n')).toMatch(
    /apparmor_parser -R .*bwrap-userns-restrict\nrm -f [\s\S]*profile bosun-bwrap \/usr\/bin\/bwrap/,
  );
});

const NOT_TO_BE_HAD: [string, Machine, Record<string, string>, RegExp][] = [
  [
    'that may not become root',
    { worksAfter: 'never', hasSudo: false },
    {},
    /needs root or sudo without a password/,
  ],
  [
    'without the package',
    { worksAfter: 'never', hasBwrap: false, installs: false },
    {},
    /apt-get could not install/,
  ],
  ['that allows no namespaces', { worksAfter: 'never' }, {}, /does not let it make namespaces/],
  [
    'of one’s own',
    { worksAfter: 'never' },
    { RUNNER_ENVIRONMENT: 'self-hosted' },
    /a runner of your own is left as it is/,
  ],
];

sampled.each(NOT_TO_BE_HAD)('warns once on a machine %s, and fails nothing', (_, machine, env, why) => {
  const { code, said } = prepare(machine, env);
  expect(code).toBe(0);
  expect(said.trim().split('\n')).toHaveLength(1);
  expect(said).toMatch(/^::warning title=Bosun::The sandbox is not available: /);
  expect(said).toMatch(why);
});

test('changes a runner of one’s own only if told to', () => {
  const own = { RUNNER_ENVIRONMENT: 'self-hosted' };
  expect(prepare({ worksAfter: 'never' }, own).sudo).toEqual([]);
  const forced = prepare({ worksAfter: 'apparmor_parser -r' }, { ...own, INPUT_SANDBOX_SETUP: 'force' });
  expect(forced.said).toMatch(/^Sandbox: loaded/);
});

test('prepares it for a model that may only read, too, and makes no fuss if that fails', () => {
  const plan = { INPUT_POLICY: '' };
  const prepared = prepare(
    { worksAfter: 'apparmor_parser -r .*bwrap-userns-restrict', hasBwrap: false },
    plan,
  );
  expect(prepared.said).toMatch(/^Sandbox: loaded the AppArmor profile/);
  expect(prepared.sudo.length).toBeGreaterThan(0);
  const { code, said } = prepare({ worksAfter: 'never' }, { ...plan, RUNNER_ENVIRONMENT: 'self-hosted' });
  expect(code).toBe(0);
  expect(said).toMatch(/^Sandbox: not available: .* The model may only read, so nothing needs it\.\n$/);
});

test('does nothing where it is switched off, or where it is told to skip', () => {
  const machine: Machine = { worksAfter: 'never' };
  const off = { code: 0, said: 'Sandbox: switched off\n', sudo: [] };
  expect(prepare(machine, { INPUT_SANDBOX: 'off' })).toEqual(off);
  expect(prepare(machine, { BOSUN_SANDBOX: 'off' })).toEqual(off);
  expect(prepare(machine, { BOSUN_SANDBOX: 'off', INPUT_SANDBOX: 'auto' }).said).toMatch(/^::warning/);
  expect(prepare(machine, { INPUT_SANDBOX_SETUP: 'skip' })).toEqual({ code: 0, said: '', sudo: [] });
});

const ASKS: Record<string, string>[] = [
  { INPUT_SANDBOX: 'required' },
  { INPUT_SANDBOX: 'auto' },
  { BOSUN_SANDBOX: 'required' },
  { INPUT_VERIFY: 'npm test' },
  { BOSUN_VERIFY: 'npm test' },
  { INPUT_MODE: 'yolo' },
];

sampled.each(ASKS)('%j needs it without a policy', (env) => {
  const needed = (worksAfter: string) => prepare({ worksAfter }, { INPUT_POLICY: '', ...env }).said;
  expect(needed('start')).toBe('Sandbox: bubblewrap works\n');
  expect(needed('never')).toMatch(/^::warning/);
});

test('the step that prepares the sandbox is told all that it asks about', () => {
  const script = readFileSync(join(REPOSITORY, 'bin/action/sandbox.sh'), 'utf8');
  const step = readAction().runs.steps.find(({ run }) => run.includes('sandbox.sh'));
  expect(Object.keys(step?.env ?? {}).sort()).toEqual([...new Set(script.match(/INPUT_[A-Z_]+/g))].sort());
});
