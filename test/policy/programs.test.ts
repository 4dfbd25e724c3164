import { describe, expect, test } from '@jest/globals';
import { engine, shell } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

/** Of some commands those that a rule about one command allows. */
async function allowed(command: string, lines: readonly string[]): Promise<string[]> {
  const rule = { id: 'r', tool: 'run_shell_command', command, decision: 'allow' };
  const policy = await engine(ws.path(), JSON.stringify({ version: 1, mode: 'plan', rules: [rule] }));
  const found: string[] = [];
  for (const line of lines) if ((await shell(policy, line)).decision === 'allow') found.push(line);
  return found;
}

const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim());

describe('a rule for a program covers its job, and not what writes files or runs others', () => {
  const cases: [string, string, string][] = [
    [
      'xxd',
      'xxd a\nxxd -l 64 -c 8 a\nxxd -r -p a',
      'xxd a b\nxxd -r a b\nxxd -r -p -- a b\nxxd -l 1 a b\nxxd -ps a out/b',
    ],
    [
      'awk',
      'awk 1 a\nawk 1 inet/a\nawk -F, 1 src/inet',
      'awk -F -- -b 1 a\nawk 1 /inet/tcp/0/h/80\nawk 1 a /inet4/tcp/0/h/80\nx=inet; awk 1 "/$x/tcp/0/h/80"\nx=h; awk 1 "/inet/$x"',
    ],
    [
      'jq',
      `jq .include a\njq '.compilerOptions.include[]' a\njq .import a\njq ".a.$x" a\njq "map($x)" "src/$f.json" a`,
      `x='import "a" as $a; $a'; jq " $x" a
       jq "m$x" a
       jq "# $x" a
       jq "module {}; $x" a
       jq 'include "x"; .' a\njq 'import "x" as y; .' a\njq 'def f: 1; include "x"; .' a`,
    ],
    [
      'uniq',
      'uniq a\nuniq -f 1 a\nuniq --skip-fields 1 a\nuniq --skip-fields=1 a',
      'uniq a b\nuniq --skip-fields=1 a b\nuniq --skip-chars=0 a b\nuniq --check-chars=9 a b\nuniq --skip-f=1 a b',
    ],
    [
      'tar t',
      "tar t -f a.tar\ntar t -vzf a.tgz\ntar t --file=a.tar '*.js'\ntar t -f a.tar -X b",
      `tar t -M -f a.tar
       tar t -Mf a.tar
       tar t -fa.tar -M
       tar t -f a.tar --multi-volume
       tar t -f a.tar --mult
       tar t -f a.tar -L 1
       tar t -f a.tar -g b
       tar t -f a.tar -F sh
       tar t -f h:a
       x=ost:a; tar t -f "h$x"`,
    ],
    [
      'tar cf',
      'tar cf a.tar src\ntar cf - src',
      `tar cf a.tar -I sh src
       tar cf a.tar -Ish src
       tar cf a.tar -M src
       tar cf a.tar -F sh src
       tar cf a.tar -T b
       tar cf a.tar -C / etc
       tar cf h:a src
       tar cf /tmp/a.tar src
       tar cf ../a.tar src`,
    ],
    [
      'tar czf',
      'tar czf a.tgz src',
      'tar czf a.tgz -I sh src\ntar czf /tmp/a.tgz src\ntar czf .git/hooks/pre-commit src',
    ],
    ['tar xf', 'tar xf a.tar src/a', 'tar xf a.tar -I sh\ntar xf a.tar -C /tmp\ntar xf a.tar -P\ntar xf h:a'],
    [
      'sed -i',
      "sed -i s/a/b/ a\nsed -i -e s/a/b/ -e s/c/d/ a\nsed -i -E 's/(a)/b/' a",
      `sed -i '1e id' a
       sed -i s/a/id/e a
       sed -i 'w /tmp/x' a
       sed -i 'r /etc/passwd' a
       sed -i -e '1e id' a
       sed -i p a -e '1e id'
       sed -i -f x a
       sed -i "$x" a`,
    ],
    ['sed -f x', 'sed -f x a', "sed -f x -e '1e id' a\nsed -f x -f y a"],
    [
      'awk -f x',
      'awk -f x a',
      `awk -f x -f y a\nawk -f x -e 'BEGIN{system("id")}' a\nawk -f x /inet/tcp/0/h/80`,
    ],
    ['find . -delete', 'find . -delete -print', 'find . -delete -exec id ";"\nfind . -delete -fprint x'],
    [
      'git -C sub grep',
      'git -C sub grep x',
      'git -C sub grep -O x\ngit -C sub grep -Oid x\ngit -C sub -c a=b grep x',
    ],
    ['printf -v x', "printf -v x '%s' a", 'printf -v x -v y z\nprintf -v x %n y'],
    ['printf -v', "printf -v x '%s' a", "printf -v 'a[$(id)]' x\nprintf -v $x y"],
    [
      'git log',
      "git log --format='%h %s'\ngit log --format=%x25GG --grep=signature",
      `git log --format=%G?
       git log --format=%+G?
       git log --format=%-GG
       git log '--format=% GS'
       git log '--format=%<(10)%-GK'
       git log --show-sig`,
    ],
    [
      'git tag --list',
      "git tag --list 'v*' --sort=-creatordate --format='%(refname)'",
      "git tag --list --format='%(signature)'\ngit tag --list --format='%(*signature:key)'\ngit tag --list --sort=-signature",
    ],
    [
      'cargo fmt',
      'cargo fmt --all -- --check\ncargo fmt -- --edition 2021 -l',
      'cargo fmt -- /tmp/x.rs\ncargo fmt -- --config-path x\ncargo fmt -- --config a=b ../x.rs',
    ],
    [
      'python -m pytest',
      'python -m pytest -n 4 --dist load tests\npython -m pytest -k "a or b"',
      'python -m pytest @args\npython -m pytest --tx ssh=host\npython -m pytest --tx=popen//python=./x\npython -m pytest --rsyncdir x',
    ],
    [
      'npx jest',
      'npx jest --ci --test-timeout=5000 --testPathPattern a --coverage',
      `npx jest --outputFile=../x --json
       npx jest --output-file=../x --json
       npx jest --coverage-directory ../x
       npx jest --global-setup ./x
       npx jest --test-runner=./x
       npx jest --cache-dir=../x`,
    ],
    ['npx tsc', 'npx tsc --noEmit', 'npx tsc @args'],
    ['mypy', 'mypy src', 'mypy @args'],
    [
      'npx vitest',
      'npx vitest run',
      'npx vitest init browser\nnpx vitest --inspect=0.0.0.0:1\nnpx vitest --inspect-brk\nnpx vitest --output-file=../x',
    ],
    [
      'git',
      'git log -1\ngit status\ngit add a\ngit commit -m x\ngit checkout -b x\ngit rev-parse --verify HEAD\ngit tag -l',
      `git evil
       git lfs push
       git verify-commit HEAD
       git tag -v v1
       git tag --verify v1
       git merge --verify-signatures x
       git fast-export --export-marks=/tmp/x HEAD
       git bugreport -o /tmp
       git pack-objects /tmp/x
       git cat-file --filters HEAD:a
       git cat-file --textconv HEAD:a`,
    ],
    ['isort', 'isort src', 'isort ../a.py\nisort /tmp/a.py'],
    ['iconv', 'iconv -f utf-8 -t ascii a', 'iconv -o b a\niconv -ob a\niconv --output=b a\niconv --out b a'],
    [
      'npm pkg',
      'npm pkg get name\nnpm pkg get',
      'npm pkg set a=b\nnpm pkg delete a\nnpm pkg fix\nnpm pkg --json set a=b\nnpm pkg $x',
    ],
    [
      'npm config',
      'npm config get x\nnpm c list',
      'npm config set a b\nnpm config edit\nnpm c delete a\nnpm set a=b',
    ],
    ['npm audit', 'npm audit\nnpm audit --json\nnpm audit signatures', 'npm audit fix\nnpm audit --json fix'],
    [
      'npm',
      'npm test\nnpm run build\nnpm ls --json\nnpm ci\nnpm pkg get name\nnpm view x',
      `npm exec x
       npm x x
       npm exe x
       npm explore a -- id
       npm init a
       npm create a
       npm pkg set scripts.test=id
       npm config set script-shell ./x
       npm set script-shell=./x
       npm c set a b
       npm version patch
       npm verison patch
       npm publish
       npm pu
       npm edit a
       npm --loglevel silent exec x
       npm runScript x
       npm --script-shell=./x test
       npm --git=./x ci`,
    ],
    [
      'make test',
      'make test\nmake test V=1 -j2\nmake test -j 2 -k\nmake test --jobs=4',
      'make test deploy\nmake test -- deploy\nmake test V=1 deploy\nmake test $X\nmake test SHELL=./x\nmake test "X!=id"\nmake test -f x\nmake test --eval=x',
    ],
    ['make', 'make\nmake deploy\nmake -j2 a b', 'make -f x\nmake CC=./x\nmake --eval=x'],
    [
      'cmake --build',
      'cmake --build .\ncmake --build build --target all -j 4\ncmake --build . -- -j4 V=1',
      'cmake --build . -- -f x\ncmake --build . -- SHELL=./x\ncmake --build . -P x\ncmake --build . -E rm x',
    ],
    [
      'mvn',
      'mvn -q test\nmvn -fae -B verify -Pci\nmvn -pl a -am verify -DskipTests\nmvn test -Dtest=FooTest#bar -Dspring.profiles.active=ci',
      'mvn test -Djvm=./x\nmvn test -DargLine=-javaagent:x.jar\nmvn -Dmaven.ext.class.path=x.jar test\nmvn a.b:c-plugin:1.0:run\nmvn -l x test\nmvn -lx test\nmvn --define jvm=./x test\nmvn clean deploy',
    ],
    [
      './gradlew',
      './gradlew test --tests Foo\n./gradlew build -Pversion=1.2',
      './gradlew -Dorg.gradle.java.home=/tmp/x test\n./gradlew -g /tmp/x test\n./gradlew --gradle-user-home=x test\n./gradlew -I x test\n./gradlew --init-script x',
    ],
    [
      'test',
      'test -f a\ntest 1 -eq 1\ntest -n "$x"',
      `test -v 'a[$(id)]'\ntest -R 'a[$(id)]'\ntest $x 'a[$(id)]'\ntest "$x" "$y"`,
    ],
    ['printf', 'printf "%s" "$x"\nprintf -- -v', `printf -v 'a[$(id)]' x\nprintf -va x\nprintf "$x" y`],
    ['read', 'read', `read 'a[$(id)]'\nread -r x`],
    ['declare', 'declare', `declare 'a[$(id)]=1'\ndeclare -i x=1`],
    ['unset', 'unset x\nunset -v x', `unset 'a[$(id)]'\nunset "a$x"\nunset $x`],
    [
      'find',
      `find . -name '-exec'\nfind . -name -delete -print\nfind . -path '-ok' -o -name x\nfind . -newer -exec`,
      `find . -name x -exec id ';'\nfind -D -name -exec id ';'\nfind . -name -name -delete\nfind . -printf -exec id ';'\nfind -f -name -exec id ';'\nfind . "$x" -exec id ';'`,
    ],
    ['fd', 'fd x src', 'fd -x id\nfd x -X id\nfd --exec id\nfd -l'],
    ['grep', `grep -- '-exec' a\ngrep -e -exec a`, 'grep x > a'],
    [
      'date',
      'date +%F\ndate -d yesterday +%F\ndate -u\ndate -Iseconds\ndate -Is',
      'date 010100002030\ndate -s now\ndate -us now\ndate --set=now',
    ],
    [
      'git log',
      'git log --format=%h -5',
      'git log --format=%G?\ngit log --pretty=format:%GK\ngit log --output=x',
    ],
    [
      'node --test',
      'node --test\nnode --test --test-name-pattern=a src\nnode --test --test-reporter=spec',
      'node --test --test-isolation=none <(echo x)\nnode --test -\nnode --test /dev/stdin\nnode --test --import ./x.js\nnode --test --redirect-warnings=x\nnode --test --experimental-config-file=x\nnode --test --heap-prof\nnode --test --test-reporter=./x.js',
    ],
    [
      'npx prettier',
      'npx prettier --check src\nnpx prettier --write --cache src\nnpx prettier --config .prettierrc src',
      'npx prettier --plugin=./x.js src\nnpx prettier --config out/x.js src\nnpx prettier --config /tmp/x src',
    ],
    [
      'npx tsc',
      'npx tsc --noEmit\nnpx tsc -p tsconfig.build.json --noEmit\nnpx tsc -p .\nnpx tsc -b\nnpx tsc -b --clean',
      'npx tsc --outDir .husky\nnpx tsc -p out/tsconfig.json\nnpx tsc --outFile x\nnpx tsc -p ../x\nnpx tsc -b out/x\nnpx tsc -b . out/x',
    ],
    [
      'npx jest',
      'npx jest --ci --coverage\nnpx jest -c jest.ci.js a',
      'npx jest --globalSetup=./x.js\nnpx jest --config out/x.js\nnpx jest --config={}\nnpx jest --outputFile=x',
    ],
    [
      'npx vitest',
      'npx vitest --run\nnpx vitest run --reporter=verbose',
      'npx vitest --config /tmp/x\nnpx vitest --globalSetup x\nnpx vitest --reporter=./out/x.js',
    ],
    [
      'npx eslint',
      'npx eslint --fix src\nnpx eslint --cache -f json .',
      'npx eslint -o x .\nnpx eslint --rulesdir x .\nnpx eslint -f out/x.js .',
    ],
    [
      'python -m pytest',
      'python -m pytest -q -k x\npython -m pytest -c pytest.ini',
      'python -m pytest -p evil\npython -m pytest --junitxml=x\npython -m pytest --basetemp=src\npython -m pytest -c out/x.ini',
    ],
    [
      'go test',
      'go test ./... -run X -count=1',
      'go test -exec sh\ngo test -trace=x\ngo test -args -test.cpuprofile=x\ngo test -debug-actiongraph=x\ngo test -pkgdir x',
    ],
    ['gofmt', 'gofmt -l src', 'gofmt -cpuprofile=x src\ngofmt --cpuprofile x'],
    [
      'cargo clippy',
      'cargo clippy -- -D warnings -Wclippy::all\ncargo clippy --fix',
      'cargo clippy -- -C linker=./x\ncargo clippy -- -o x\ncargo clippy --config x',
    ],
    [
      'cargo test',
      'cargo test -- --nocapture',
      'cargo test -- --logfile x\ncargo test --artifact-dir=x\ncargo test --target-dir=x',
    ],
    ['ruff', 'ruff check src', 'ruff check -o x\nruff check --output-file=x'],
    ['mypy', 'mypy --strict src', 'mypy --python-executable ./x\nmypy --install-types\nmypy --html-report x'],
    [
      'pylint',
      'pylint -f json src',
      'pylint --init-hook=x src\npylint --load-plugins=x src\npylint --output=x src',
    ],
    [
      'curl',
      'curl -s https://a.example',
      'curl -o x https://a.example\ncurl --trace-ascii x https://a.example\ncurl --libcurl x https://a.example\ncurl -w "%output{x}a" https://a.example',
    ],
    ['kubectl get', 'kubectl get pods', 'kubectl get pods --kubeconfig=x'],
  ];
  test.each(cases)('%s', async (command, fine, risky) => {
    expect(await allowed(command, lines(fine))).toEqual(lines(fine));
    expect(await allowed(command, lines(risky))).toEqual([]);
  });
});

/** Known programs are looked up in tables: what every object has is in none of them. */
test('a subcommand called like a property of every object is judged like any other', async () => {
  const names = Object.getOwnPropertyNames(Object.prototype);
  const programs = ['git', 'npm', 'npx', 'yarn', 'pnpm', 'cargo', 'go', 'make', 'docker'];
  const policy = await engine(
    ws.path(),
    JSON.stringify({
      version: 1,
      mode: 'plan',
      rules: [{ id: 'all', tool: 'run_shell_command', command: programs, decision: 'allow' }],
    }),
  );
  const judge = async (line: string) => (await shell(policy, line)).decision;
  for (const name of names) {
    expect([name, await judge(`${name} x`)]).toEqual([name, 'deny']);
    for (const program of programs)
      expect([program, name, await judge(`${program} ${name} x`)]).toEqual([
        program,
        name,
        await judge(`${program} unheard-of x`),
      ]);
  }
});
