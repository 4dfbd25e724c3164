import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { existsSync, realpathSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { within } from '../helpers/bounds.js';
import { engine, load, shell } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();
const rule = (decision: string, command: string | string[], id: string = decision) => ({
  id,
  tool: 'run_shell_command',
  command,
  decision,
});
const policyOf = (mode: string, ...rules: object[]) => JSON.stringify({ version: 1, mode, rules });

/** Of some commands those that a rule about one command decides. */
async function decided(decision: 'allow' | 'ask' | 'deny', pattern: string, commands: readonly string[]) {
  const mode = decision === 'allow' ? 'plan' : 'yolo';
  const policy = await engine(ws.path(), policyOf(mode, rule(decision, pattern)));
  const found: string[] = [];
  for (const command of commands)
    if ((await shell(policy, command)).decision === decision) found.push(command);
  return found;
}

const words = (text: string) => text.trim().split(/\s*[,\n]\s*/);

describe('a deny covers every alias and every command that includes it', () => {
  const cases: [string, string][] = [
    [
      'npm install',
      `npm install, npm i, npm in, npm ins, npm inst, npm insta, npm instal, npm isnt, npm isnta, npm isntal,
       npm isntall, npm add x, npm it, npm install-test, npm installTest, npm update, npm up, npm audit fix,
       npm ln x, npm --foo x i, npm -g i x, npm -w a --silent add x, /usr/bin/npm i, 'npm' i, npm $x, NPM i`,
    ],
    ['npm i', 'npm install x, npm add x, npm it'],
    ['npm install left-pad', 'npm i left-pad, npm it left-pad, npm add --save left-pad'],
    ['npm ci', 'npm ic, npm clean-install, npm cit, npm sit, npm install-clean'],
    ['npm test', 'npm t, npm tst, npm run test, npm rum test, npm it, npm cit, npm run-script --silent test'],
    ['npm run test', 'npm t, npm test -- --ci, npm urn test, npm runScript test, npm install-test'],
    [
      'npm run',
      `npm run x, npm run-script x, npm rum x, npm urn x, npm exec x, npm x x, npm explore a -- ls, npm init a,
       npm create vite, npm innit a, npm config set script-shell /bin/x, npm set script-shell=/bin/x,
       npm c set script-shell=x`,
    ],
    ['npm exec', 'npm x a, npx a, npm init vite, npm create vite, npm innit vite'],
    ['npx', 'npm exec a, npm x a, npx-cli.js a'],
    ['npm explore', 'npm explo a -- x, npm --prefix . explore a'],
    ['npm publish', 'npm pu, npm publ, npm stage publish, npm run x && npm publish'],
    ['npm config set', 'npm set a=b, npm c set a b'],
    ['npm set', 'npm config set a=b'],
    ['pnpm install', 'pnpm i, pnpm add x, pnpm it, pnpm -r i, pnpm recursive install, pnpm up, pn i'],
    ['pnpm add', 'pnpm install x, pnpm --filter a add x, pnpm m add x'],
    ['pnpm run build', 'pnpm build, pnpm run-script build, pnpm -r run build, pnpm --filter x build'],
    ['pnpm dlx', 'pnpx x, pnpm create x, pnx x'],
    [
      'yarn install',
      'yarn, yarn --frozen-lockfile, yarn i, yarn add x, yarn --cwd x, yarn up, yarnpkg install',
    ],
    ['yarn add', 'yarn global add x, yarn workspace a add x, yarn workspaces foreach -A add x'],
    [
      'yarn run deploy',
      'yarn deploy, yarn workspace a deploy, yarn workspaces run deploy, yarn run-script deploy',
    ],
    ['yarn publish', 'yarn npm publish, yarn workspace a npm publish, yarn run publish'],
    ['git add', 'git stage ., git -C . stage x, git-add x, /usr/lib/git-core/git-stage x'],
    [
      'git push',
      '/usr/lib/git-core/git-push, git send-pack x, git subtree push x, git for-each-repo --config=a push',
    ],
    ['git fetch', 'git pull, git remote update, git remote -v update, git fetch-pack x'],
    ['git restore', 'git checkout .'],
    ['git checkout', 'git restore ., git switch x'],
    ['git blame', 'git annotate a, git pickaxe a'],
    ['git commit', 'git citool, npm version patch, npm verison 1.0.0'],
    ['cargo build', 'cargo b, cargo +nightly b, cargo rustc'],
    ['cargo test', 'cargo t --all'],
    ['cargo run', 'cargo r'],
    ['cargo remove', 'cargo rm x'],
    ['cargo package', 'cargo publish'],
    [
      'pip install',
      'pip3 install x, pip3.11 install x, python -m pip install x, python3 -I -m pip install x, uv pip install x',
    ],
    ['python', 'python3 x.py, python3.12 -c x, /usr/bin/python2'],
    ['twine upload', 'python -m twine upload x'],
    ['gofmt', 'go fmt ./..., gofmt -w .'],
    [
      'git commit --amend',
      'git commit --amend, git commit -m x --amend, git commit --ame, git -C . commit -qm x --am --no-edit',
    ],
    ['rm --recursive', 'rm --rec x, rm -f --r x'],
    ['apt-get install', 'apt install x, apt-get -y install x'],
    ['docker push', 'docker image push x, docker --context a push x'],
    [
      'make deploy',
      'make deploy, make test deploy, make -j2 V=1 deploy, gmake test deploy, make -- a deploy, make $x',
    ],
    ['mvn deploy', 'mvn clean deploy, mvn -q -DskipTests deploy'],
  ];
  test.each(cases)('%s', async (pattern, list) => {
    expect(await decided('deny', pattern, words(list))).toEqual(words(list));
  });

  test('and so does an ask', async () => {
    const list = words('npm i, npm add x, npm it, npm --foo x isntall');
    expect(await decided('ask', 'npm install', list)).toEqual(list);
  });
});

test('an ask alone reaches through wrappers as well, and hides nothing else', async () => {
  const asked = words(
    'sudo npm i, xargs npm i, eval npm i, npx npm i, bash -c "npm i", find . -exec npm i ;',
  );
  expect(await decided('ask', 'npm install', asked)).toEqual(asked);
  expect(await decided('ask', 'npm install', words('git -c a=b log, $x y, awk -f x, sudo ls'))).toEqual([]);
});

describe('a deny leaves alone what only looks like it', () => {
  const cases: [string, string][] = [
    [
      'npm install',
      'npm test, npm run install-hooks, npm ci, npm init -y, npm info x, npm ls, npm explain x, npm uninstall x',
    ],
    ['npm install-test', 'npm install, npm test'],
    [
      'npm run',
      'npm test, npm start, npm t, npm install, npm init -y, npm config get x, npm rebuild, npx prettier',
    ],
    ['npm run deploy', 'npm run test, npm exec x, npm x deployer'],
    ['npm test', 'npm run tests, npm run lint, npm install, npm start'],
    ['npm publish', 'npm run publish-docs, npm pack, npm unpublish x, npm prune'],
    ['pnpm add', 'pnpm install, pnpm install --frozen-lockfile, pnpm test'],
    ['yarn install', 'yarn test, yarn build, yarn run x'],
    ['git push', 'git stash push, git log --grep push, git pull, git commit -m push'],
    ['git add', 'git status, git apply x'],
    ['git switch', 'git restore ., git branch x'],
    ['git commit --amend', 'git commit --all -m x, git commit -m amend, git commit -m x, git commit -- --x'],
    ['git push --force', 'git push, git push -- x, git push --follow-tags, git push --force-if-includes'],
    ['git fetch', 'git log, git remote -v, git remote add a b'],
    ['cargo build', 'cargo test, cargo bench, cargo check'],
    ['pip install', 'pip list, pip3 download x, python -m venv x, python install'],
    ['make deploy', 'make test, make -n, make deploy-docs'],
  ];
  test.each(cases)('%s', async (pattern, list) => {
    expect(await decided('deny', pattern, words(list))).toEqual([]);
  });
});

describe('an allow covers exact synonyms, and nothing else', () => {
  const cases: [string, string, string][] = [
    [
      'npm install',
      'npm i, npm add x, npm isntall',
      'npm it, npm inst-t, npm ci, npm up, npm installTest, npm --foo x i',
    ],
    [
      'npm test',
      'npm t, npm tst -- --ci, npm run test, npm run-script test, npm rum test',
      'npm it, npm run tests, npm te, npm cit',
    ],
    ['npm run test', 'npm t, npm test', 'npm run lint, npm it'],
    ['npm run', 'npm run-script x, npm rum x, npm urn x', 'npm exec x, npm x x, npm runScript x, npm test'],
    ['npm run lint', 'npm rum lint', 'npm run lint:fix, npm lint'],
    ['npm it', 'npm install-test', 'npm install, npm test'],
    ['npx prettier', 'npx prettier x', 'npm exec prettier x'],
    ['pnpm test', 'pnpm t, pnpm run test', 'pnpm it, pnpm -r test'],
    ['yarn test', 'yarn run test', 'yarn t, yarn workspace a test'],
    ['git add', 'git stage .', 'git stage -e, git-add .'],
    ['git blame', 'git annotate a', 'git log'],
    ['cargo check', 'cargo check', 'cargo c, cargo clippy'],
    ['pip install', 'pip install x', 'pip3 install x, python -m pip install x'],
  ];
  test.each(cases)('%s', async (pattern, yes, no) => {
    expect(await decided('allow', pattern, words(yes))).toEqual(words(yes));
    expect(await decided('allow', pattern, words(no))).toEqual([]);
  });

  test('what makes a command dangerous does so under every name of it', async () => {
    const risky = words(
      'npm t --script-shell=x, npm i --prefix ../x, npm rum test --node-options=x, npm tst -g',
    );
    expect(await decided('allow', 'npm test', risky)).toEqual([]);
    expect(await decided('allow', 'npm install', risky)).toEqual([]);
  });
});

test('what only writes files, or only looks, does not count as hidden', async () => {
  const policy = await engine(ws.path(), policyOf('yolo', rule('deny', ['git push'])));
  const lines = [
    "sed -i 's/a/b/' a",
    "sed -i.bak -e '1i hello' a",
    "sed -n '/a/w b' a",
    'tar xzf a.tgz',
    'tar -czf b.tgz src',
    `awk '{ print > "b" }' a`,
    'git config user.name "$x"',
    'git config --get alias.x',
    'git commit -m "git push later"',
    'git cherry-pick -x abc',
    'read -r -p "$prompt" line',
    'export PATH="$PATH:x"',
    'declare -A seen',
    'unset x y',
    'wait $!',
    '[ "$a" = "$b" ]',
    'printf "$format" "$x"',
    'let i++',
  ];
  for (const line of lines) expect([line, (await shell(policy, line)).decision]).toEqual([line, 'allow']);
});

test('an allow of what a deny covers by another name is an error', async () => {
  const rules = [rule('deny', 'npm install'), rule('allow', 'npm i left-pad')];
  await expect(load(ws.path(), policyOf('plan', ...rules))).rejects.toThrow(
    /rule `allow` can never decide.*`npm install` covers `npm i left-pad`/s,
  );
});

const npm = join(dirname(realpathSync(process.execPath)), '../lib/node_modules/npm/lib/utils/cmd-list.js');
(existsSync(npm) ? describe : describe.skip)(
  'what npm itself says of its commands (needs npm beside node)',
  () => {
    interface Commands {
      readonly commands: readonly string[];
      readonly aliases: Readonly<Record<string, string>>;
      readonly deref: (word: string) => string | undefined;
    }
    // Jest reads this where it is skipped, too.
    const none: Commands = { commands: [], aliases: {}, deref: () => undefined };
    const { commands, aliases, deref } = existsSync(npm)
      ? (createRequire(import.meta.url)(npm) as Commands)
      : none;
    const names = [...commands, ...Object.keys(aliases)];
    const short = [...new Set(names.flatMap((name) => [...name].map((_, i) => name.slice(0, i + 1))))];
    // npm works out all abbreviations whenever it is asked for one.
    const meaning = new Map(short.map((word) => [word, deref(word)]));

    test('a deny catches every name and every abbreviation', async () => {
      for (const command of commands) {
        const meant = short.filter((word) => meaning.get(word) === command).map((word) => `npm ${word} a`);
        expect(await decided('deny', `npm ${command}`, meant)).toEqual(meant);
      }
    });

    test('an allow covers an alias exactly if npm says that it is one', async () => {
      for (const command of commands) {
        // Names that have nothing in common are not worth the time.
        const near = names.filter((word) => meaning.get(word) === command || word[0] === command[0]);
        const same = near.filter((word) => meaning.get(word) === command).map((word) => `npm ${word}`);
        const covered = await decided(
          'allow',
          `npm ${command}`,
          near.map((word) => `npm ${word}`),
        );
        expect(covered.filter((one) => one !== 'npm set' && one !== 'npm get').sort()).toEqual(
          same.filter((one) => one !== 'npm set' && one !== 'npm get').sort(),
        );
      }
    });
  },
);

test('a thousand options take no longer than they should', async () => {
  const policy = await engine(ws.path(), policyOf('yolo', rule('deny', ['git push', 'npm install'])));
  for (const program of ['git', 'npm', 'yarn'])
    expect(await within(2000, () => shell(policy, `${program}${' -a'.repeat(900)} x`))).toBeDefined();
});
