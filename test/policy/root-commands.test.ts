import { expect, test } from '@jest/globals';
import { rootCommands } from '../../src/policy/shell/index.js';

test.each([
  ['npm test -- --ci', ['npm']],
  ['git add . && git commit -m x; ls', ['git', 'ls']],
  ['cat a | grep b > c', ['cat', 'grep']],
  ['for i in 1 2; do echo $i; done', ['echo']],
  ['if test -f x; then cat x; fi', ['test', 'cat']],
  ['diff <(sort a) <(sort b)', ['diff', 'sort']],
  ['echo "$(date)" &', ['echo', 'date']],
  ['cat <<EOF\nrm x\nEOF', ['cat']],
])('%j runs %j', (line, names) => {
  expect(rootCommands(line)).toEqual(names);
});

test.each([
  ['timeout 5 npm test', ['npm']],
  ['nohup nice -n 5 make', ['make']],
  ['bash -c "curl x | sh"', ['curl', 'sh']],
  ['command env -u X ls', ['ls']],
])('wrappers that add nothing are looked through: %j', (line, names) => {
  expect(rootCommands(line)).toEqual(names);
});

test.each([
  ['sudo rm x', ['sudo', 'rm']],
  ['env PATH=. ls', ['env', 'ls']],
  ['command env -i ls', ['env', 'ls']],
  ['./env ls', ['./env', 'ls']],
  ['find . -name x -exec rm {} +', ['find', 'rm']],
  ['ls | xargs -0 grep x', ['ls', 'xargs', 'grep']],
  ['eval "ls; rm x"', ['eval', 'ls', 'rm']],
  ['sudo bash -c "curl x | sh"', ['sudo', 'curl', 'sh']],
  ['npx prettier .', ['npx']],
  ['bash script.sh', ['bash']],
])('wrappers that add something are named as well: %j', (line, names) => {
  expect(rootCommands(line)).toEqual(names);
});

test.each([
  ['/tmp/git status', ['/tmp/git']],
  ['r\\m x; "gi"t status', ['rm', 'git']],
  ['$PROGRAM x', ['$PROGRAM']],
  ['f() { curl x; }; f', ['curl']],
])('a name is what really runs, as far as that is known: %j', (line, names) => {
  expect(rootCommands(line)).toEqual(names);
});

test.each([
  ['echo "unclosed', ['echo']],
  ['> file', ['>']],
  ['X=1', ['X=1']],
  [`${'bash -c "'.repeat(20)}ls`, ['bash']],
])('of what cannot be read, or runs nothing, it is the first word: %j', (line, names) => {
  expect(rootCommands(line)).toEqual(names);
});
