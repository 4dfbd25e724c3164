import type { Redirect as RedirectNode, RedirectDescriptor, Redirection } from 'unbash';
import type { Redirect } from './model.js';
import { printWord, type WordReader } from './print-word.js';
import { onlyInBash, reject } from './unreadable.js';
import { shellWord } from './shell-word.js';

const READS = new Set(['<']);
const WRITES = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&']);

/** The files that redirections touch. */
export function redirectsOf(redirections: readonly Redirection[]): Redirect[] {
  const uses: Redirect[] = [];
  for (const redirection of redirections) {
    if (redirection.type !== 'Redirect') continue;
    const { operator, target } = redirection;
    if (!target) reject('it has a redirection without a target');
    const word = shellWord(target);
    // `2>&1`, `>&-`: descriptors only.
    if (isDescriptor(redirection)) continue;
    // `< <(command)`: the command is judged on its own.
    if (operator === '<' && word.text.startsWith('<(') && target.parts?.length === 1) continue;
    if (READS.has(operator)) uses.push({ access: 'read', target: word });
    else if (WRITES.has(operator)) uses.push({ access: 'write', target: word });
    else reject(`the redirection ${operator} is not supported`);
  }
  return uses;
}

/** Prints a redirection of one file, descriptor or string; here-document.ts prints here-documents. */
export function printRedirect(
  redirection: Exclude<Redirection, { type: 'HereDoc' }>,
  reader: WordReader,
): string {
  const { type, operator, target } = redirection;
  if (!target) return reject('it has a redirection without a target');
  const number = printDescriptor(redirection.descriptor);
  if (type === 'HereString') {
    onlyInBash(reader.dialect, type);
    return `${number}<<< ${printWord(target, reader)}`;
  }
  if (isDescriptor(redirection)) return `${number}${operator}${shellWord(target).literal}`;
  const file = printWord(target, reader);
  if (/&/.test(operator)) {
    // To sh, `a &> b` is `a & > b`.
    onlyInBash(reader.dialect, operator);
    // A target that turns out to be a number would be a descriptor.
    const isFile = /^[A-Za-z_./][\w./-]*$/.test(target.text) || operator !== '>&';
    if (!isFile || !/^1?$/.test(number))
      reject(`it is not clear what ${number}${operator} ${target.text} means`);
    return `${operator === '&>>' ? '>>' : '>'} ${file} 2>&1`;
  }
  return `${number}${operator} ${file}`;
}

function isDescriptor({ operator, target }: RedirectNode): boolean {
  return (
    /^[<>]&$/.test(operator) && target !== undefined && /^(\d+-?|-)$/.test(shellWord(target).literal ?? '')
  );
}

/** The number before a redirection. */
export function printDescriptor(descriptor: RedirectDescriptor | undefined): string {
  if (descriptor?.type === 'FileDescriptorVariable') reject('it stores a descriptor in a variable');
  // In other shells, the number in `12>` is an argument.
  if (descriptor && descriptor.value > 9) reject(`it uses the descriptor ${descriptor.value}`);
  return descriptor ? String(descriptor.value) : '';
}
