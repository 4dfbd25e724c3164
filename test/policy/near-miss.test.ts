import { describe, expect, test } from '@jest/globals';
import { engine, shell } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const allowing = (...commands: string[]) => {
  const rules = [{ id: 'r', tool: 'run_shell_command', command: commands, decision: 'allow' }];
  return engine(ws.path(), JSON.stringify({ version: 1, rules }));
};
const decided = async (pattern: string, line: string) => {
  const { decision, reason } = await shell(await allowing(pattern), line);
  return { decision, reason };
};

describe('options that change nothing about what runs', () => {
  test.each([
    ['npm run lint', 'npm run -s lint'],
    ['npm run lint', 'npm -s run-script --quiet lint -- --fix'],
    ['npm test', 'npm run --no-color test'],
    ['npx prettier', 'npx --no-install prettier --check src'],
    ['pnpm run lint', 'pnpm -s run --reporter=silent lint'],
    ['pnpm lint', 'pnpm --silent lint'],
    ['yarn run lint', 'yarn -s --no-progress run -s lint'],
    ['git log', 'git -P --no-optional-locks log -3'],
    ['git --no-pager log', 'git --no-pager log'],
    ['make test', 'make -s -j4 test'],
    ['cargo test', 'cargo -q --color=never test'],
    ['pytest tests', 'pytest -q tests'],
    ['go test ./...', 'go test -v ./...'],
    ['pip install -r requirements.txt', 'pip install -q -r requirements.txt'],
    ['mvn test', 'mvn -q -B test'],
    ['./gradlew test', './gradlew --console=plain test'],
  ])('do not break the prefix `%s`: %s', async (pattern, line) => {
    expect((await decided(pattern, line)).decision).toBe('allow');
  });

  test.each([
    // The switch takes the next word for its value.
    ['npm run true', 'npm run --no-color true evil'],
    ['npm run always', 'npm run --no-color always evil'],
    ['pnpm run true', 'pnpm run --no-color true evil'],
    // A value of the option that the pattern names.
    ['npm --prefix x run lint', 'npm --prefix -s x run lint'],
    ['cargo -q test', 'cargo -q -v test'],
    // Yarn 1 takes the word behind the first option for the script.
    ['yarn run lint', 'yarn run -s -s lint'],
    ['yarn run lint', 'yarn -s run --silent --no-progress lint'],
    // Not the program's own in that place.
    ['npm exec lint', 'npm exec -s lint'],
    ['pnpm exec lint', 'pnpm exec -s lint'],
    ['git stash list', 'git stash -P list'],
    ['go test', 'go -v test'],
    // Another program of that name.
    ['./npm run lint', './npm run -s lint'],
    // Settings, folders, and what runs.
    ['npm run lint', 'npm run --color=never lint'],
    ['npm run lint', 'npm run --prefix=x lint'],
    ['npm run lint', 'npm run -s --script-shell=./x lint'],
    ['pnpm run lint', 'pnpm -s --dir x run lint'],
    ['pnpm run lint', 'pnpm -r run lint'],
    ['yarn run lint', 'yarn --cwd x run lint'],
    ['npx prettier', 'npx -q -p evil prettier'],
    ['mvn test', 'mvn -q -f x test'],
    ['./gradlew test', './gradlew -q -p x test'],
    ['pytest tests', 'pytest -q -p evil tests'],
  ])('nothing else: `%s` does not cover %s', async (pattern, line) => {
    expect((await decided(pattern, line)).decision).toBe('deny');
  });
});

describe('a refused command names the rule that nearly matches, and the word that does not', () => {
  test.each([
    [
      'npm run lint',
      'npm run --prefix x lint',
      '(`npm run lint`), but `--prefix` is where the rule has `lint`',
    ],
    ['npm run lint', 'npm run lint:fix', '(`npm run lint`), but `lint:fix` is where the rule has `lint`'],
    ['npm test', 'npm run test:unit', '(`npm test`), but `test:unit` is where the rule has `test`'],
    ['npm test', 'npm tets', '(`npm test`), but `tets` is where the rule has `test`'],
    ['npm run lint', 'npm run', '(`npm run lint`), but `lint` is missing'],
    ['npm run lint', 'npm run $x', '(`npm run lint`), but `$x` is where the rule has `lint`'],
    ['git log', 'git -C x log', '(`git log`), but `-C` is where the rule has `log`'],
    ['git log', '/usr/bin/git log', '(`git log`), but it is spelled `/usr/bin/git`'],
    ['npx prettier', 'npx -y prettier', '(`npx prettier`), but `-y` is where the rule has `prettier`'],
    ['make test', "bash -c 'make -k test'", '(`make test`), but `-k` is where the rule has `test`'],
  ])('`%s`: %s', async (pattern, line, why) => {
    const { decision, reason } = await decided(pattern, line);
    expect({ decision, reason }).toEqual({
      decision: 'deny',
      reason: `rule r nearly matches ${why}; mode plan does not allow execute tools such as run_shell_command`,
    });
  });

  test('of several the nearest', async () => {
    const policy = await allowing('npm ci', 'npm run build', 'npm run lint', 'git log');
    expect((await shell(policy, 'npm run lint2')).reason).toContain('(`npm run lint`), but `lint2`');
  });

  test.each([
    ['git log', 'git push'],
    ['npm test', 'npm install'],
    ['ls', 'curl x'],
  ])('but not what merely begins alike: `%s`, %s', async (pattern, line) => {
    expect((await decided(pattern, line)).reason).not.toContain('nearly');
  });

  test('a very long word is cut', async () => {
    expect((await decided('npm run lint', `npm run ${'x'.repeat(5000)}`)).reason.length).toBeLessThan(300);
  });
});
