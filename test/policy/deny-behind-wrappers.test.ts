import { describe, expect, test } from '@jest/globals';
import { sh } from '../helpers/evidence.js';
import { learnIn, times } from '../helpers/learn.js';
import { engine, shell } from '../helpers/policy.js';
import { useWorkspace } from '../helpers/workspace.js';

const ws = useWorkspace();

const HIDING = [
  'fakeroot rm a',
  'fakeroot -- rm a',
  'setarch x86_64 rm a',
  'setarch -R rm a',
  'linux32 rm a',
  'unshare -r rm a',
  'nsenter -t 1 rm a',
  'ionice -c3 rm a',
  'ionice -c 2 -n 7 rm a',
  'chrt -b 0 rm a',
  'taskset -c 0 rm a',
  'prlimit --nofile=9 rm a',
  'setpriv --nnp rm a',
  'setsid -w rm a',
  'stdbuf -oL rm a',
  'script -qc "rm a" /dev/null',
  'script --command="rm a"',
  'flock x rm a',
  'flock x -c "rm a"',
  'watch -n1 rm a',
  'choom -n 0 -- rm a',
  'systemd-run --user rm a',
  'numactl -N 0 rm a',
  'cpulimit -l 50 -- rm a',
  'cgexec -g cpu:x rm a',
  'eatmydata rm a',
  'unbuffer rm a',
  'rlwrap rm a',
  'chronic rm a',
  'faketime now rm a',
  'catatonit -- rm a',
  'sem rm a',
  'hyperfine "rm a"',
  'start-stop-daemon --start --exec /bin/rm -- a',
  'capsh -- -c "rm a"',
  'schroot -- rm a',
  'ccache rm a',
  'hatch run rm a',
  'tmux new -d "rm a"',
  'screen -dm rm a',
  'pee "rm a"',
  'concurrently "rm a"',
  'ifne rm a',
  'chpst -u x rm a',
  'envdir d rm a',
  'systemd-inhibit --what=x rm a',
  'cross-env A=1 rm a',
  'parallel rm ::: a',
];

/** Programs that no table has, and words that they are only told. */
const UNKNOWN_PROGRAMS: readonly [string, string][] = [
  ['hand-on git push', 'deny'],
  ['hand-on --fast -- git -C . push origin', 'deny'],
  ['./tools/run A=1 git push', 'deny'],
  ['hand-on npm pub', 'deny'],
  ['xargs -a list git', 'deny'],
  ['xargs -P 2 -a list -n 1 git', 'deny'],
  ['xargs -a list git -i', 'deny'],
  ['xargs -a -i git', 'deny'],
  ['parallel git ::: push', 'deny'],
  ['echo git push | at now', 'deny'],
  ["batch <<< 'git push'", 'deny'],
  ['echo git push', 'allow'],
  ['grep -rn git push .', 'allow'],
  ['man git push', 'allow'],
  ["gh pr comment -b 'git push failed'", 'allow'],
  ['hand-on git status', 'allow'],
  ['hand-on push', 'allow'],
  ['parallel git fetch ::: a b', 'allow'],
];

test.each([
  ['./gradlew publish', 'deny'],
  ['./gradlew :app:publish', 'deny'],
  ['./gradlew pub', 'deny'],
  ['./gradlew clean publishAllPublicationsToNexusRepository', 'deny'],
  ['./gradlew pAPTNR', 'deny'],
  ['./gradlew publishToMavenLocal', 'allow'],
  ['./gradlew build', 'allow'],
  ['mvn deploy:deploy-file', 'deny'],
  ['mvn clean site-deploy', 'deny'],
  ['mvn package', 'allow'],
])('goals by other names: %s', async (line, decision) => {
  const text =
    'version: 1\nmode: yolo\nrules:\n  - {id: no, tool: run_shell_command, command: [./gradlew publish, mvn deploy], decision: deny}\n';
  expect(await shell(await engine(ws.path(), text), line)).toMatchObject({ decision });
});

test.each(UNKNOWN_PROGRAMS)(
  'a program that is given a denied command runs it: %s',
  async (line, decision) => {
    const text =
      'version: 1\nmode: yolo\nrules:\n  - {id: no, tool: run_shell_command, command: [git push, npm publish], decision: deny}\n';
    expect(await shell(await engine(ws.path(), text), line)).toMatchObject({ decision });
  },
);

describe('a wrapper', () => {
  test.each(HIDING)('does not hide a command from a deny: %s', async (line) => {
    const text =
      'version: 1\nmode: yolo\nrules:\n  - {id: no, tool: run_shell_command, command: rm, decision: deny}\n';
    expect(await shell(await engine(ws.path(), text), line)).toMatchObject({ decision: 'deny' });
  });

  test('is never learnt, unless it is one that is looked through', async () => {
    const lines = HIDING.map((line) => line.replaceAll('rm a', 'touch a'));
    const { text } = await learnIn(
      ws,
      times(3, { calls: [...lines, 'timeout 5 touch b'].map((one) => sh(one)) }),
    );
    expect(text.match(/^ {6}- .* #/gm)).toEqual(['      - touch b #']);
  });
});
