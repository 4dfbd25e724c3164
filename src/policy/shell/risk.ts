import { basename, dirname } from 'node:path';
import { wordsOf } from '../../lib/text.js';
import { worstRisk, type Risk } from '../../protocol/risk.js';
import { onlyLooks } from '../may-change.js';
import { MAX_DEPTH } from './context.js';
import { FREE } from './free.js';
import { withoutIdle } from './idle-options.js';
import { knownText, type Redirect, type ShellWord, type SimpleCommand } from './model.js';
import { hazardOf } from './programs.js';
import { testHazard } from './programs-builtins.js';
import { readScript } from './read.js';
import type { InnerCommand } from './unwrapped.js';
import { changesWhatRuns } from './variables.js';
import { isMoreThanWrapper, unwrap } from './wrappers.js';

/** Programs that only write to files. */
const WRITERS = new Set(
  wordsOf(
    'rm rmdir mkdir touch tee truncate shred unlink mv cp ln install chmod chown chgrp mkfifo mknod dd patch',
  ),
);
/** Programs that are made for the network. */
export const REACHING = new Set(
  wordsOf(
    'curl wget ssh scp sftp rsync ftp nc ncat netcat telnet ping dig nslookup host gh glab http https xh aws gcloud az kubectl helm twine',
  ),
);
const GIT_WRITES = new Set(
  wordsOf(
    'add commit checkout switch restore reset merge rebase stash branch tag rm mv cherry-pick revert apply am init clean notes',
  ),
);
const GIT_REACHES = new Set(wordsOf('fetch pull push clone ls-remote submodule remote'));
/** Programs with some subcommands that download or publish; the effect of the others is unknown. */
const MANAGERS = new Set(
  wordsOf(
    'npm pnpm yarn bun pip pip3 pipx uv poetry apt apt-get apk dnf yum brew gem bundle cargo go composer docker podman',
  ),
);
const MANAGER_REACHES = new Set(
  wordsOf('install i ci add update upgrade publish pull push download fetch get login search audit outdated'),
);
const HARMLESS = new Set(wordsOf('sleep wait'));
/** Programs whose names alone decide. */
const CERTAIN: readonly (readonly [ReadonlySet<string>, Risk])[] = [
  [REACHING, 'network'],
  [WRITERS, 'writes'],
  [FREE, 'reads'],
  [HARMLESS, 'reads'],
];
const SYSTEM = new Set(['.', '/bin', '/usr/bin', '/sbin', '/usr/sbin']);

/** What a command line may do at worst, for approvers. What is not understood is unknown. */
export function lineRisk(source: string, depth = 0): Risk {
  const reading = depth > MAX_DEPTH ? undefined : readScript(source, depth > 0);
  if (!reading?.ok) return 'unknown';
  const { commands, functions } = reading.script;
  return worstRisk(commands.map((command) => commandRisk(command, functions, depth)));
}

/** The same for one of its commands. `functions`: those that the line defines. */
export function commandRisk(command: SimpleCommand, functions: readonly string[] = [], depth = 0): Risk {
  const { words, assignments, redirects } = command;
  if (assignments.some(changesWhatRuns)) return 'unknown';
  const files = redirects.map(redirectRisk);
  // The commands in a function are in the list as well.
  const isOwn = words.length === 0 || functions.includes(words[0]?.literal ?? '');
  return worstRisk([...files, isOwn ? 'reads' : wordsRisk(words, depth)]);
}

function redirectRisk({ access, target }: Redirect): Risk {
  const path = target.literal;
  if (path === undefined) return access === 'write' ? 'writes' : 'unknown';
  if (/^\/dev\/(tcp|udp)\//.test(path)) return 'network';
  return access === 'write' && !/^\/dev\/(null|stdout|stderr)$/.test(path) ? 'writes' : 'reads';
}

function wordsRisk(words: readonly ShellWord[], depth: number): Risk {
  const name = words[0]?.literal;
  if (!name || depth > MAX_DEPTH || !SYSTEM.has(name.includes('/') ? dirname(name) : '.')) return 'unknown';
  if (name.startsWith('./')) return 'unknown';
  const wrapped = unwrap(words);
  if (wrapped?.assignments.some(changesWhatRuns)) return 'unknown';
  const inner = wrapped?.inner.map((one) => innerRisk(one, depth + 1)) ?? [];
  if (!wrapped) return programRisk(words);
  if (!isMoreThanWrapper(words)) return /^(sudo|doas)$/.test(basename(name)) ? 'unknown' : worstRisk(inner);
  const known = wrapped.inner.some(({ type }) => type === 'words' || type === 'script') ? inner : [];
  return worstRisk([...known, programRisk(words)]);
}

function innerRisk(inner: InnerCommand, depth: number): Risk {
  switch (inner.type) {
    case 'words':
      return wordsRisk(inner.words, depth);
    case 'script':
      return lineRisk(inner.source, depth);
    case 'suffixes':
    case 'unknown':
      return 'unknown';
    default:
      return inner satisfies never;
  }
}

/** The risk of a program itself, whatever it starts. */
function programRisk(spelt: readonly ShellWord[]): Risk {
  const words = withoutIdle(spelt);
  const [program = '', ...rest] = words.map(knownText);
  const name = basename(program);
  const subcommand = rest.find((word) => !word.startsWith('-')) ?? '';
  if (name === 'git') return gitRisk(words, rest[0] ?? '', subcommand);
  if (name === 'test' || name === '[') return testHazard(words) ? 'unknown' : 'reads';
  if (MANAGERS.has(name)) return MANAGER_REACHES.has(subcommand) ? 'network' : 'unknown';
  const [, certain] = CERTAIN.find(([names]) => names.has(name)) ?? [];
  if (certain) return certain;
  return onlyLooks([name, subcommand]) ? readerRisk(name, words) : 'unknown';
}

function readerRisk(name: string, words: readonly ShellWord[]): Risk {
  if (!hazardOf(words, 1)) return 'reads';
  return name === 'sed' && !hazardOf(withoutInPlace(words), 1) ? 'writes' : 'unknown';
}

function gitRisk(words: readonly ShellWord[], first: string, subcommand: string): Risk {
  // An option may take the next word as its value: `git -C log push` is a push.
  if (first.startsWith('-')) return 'unknown';
  if (GIT_REACHES.has(subcommand)) return 'network';
  if (hazardOf(words, 2)) return 'unknown';
  if (GIT_WRITES.has(subcommand)) return 'writes';
  return onlyLooks(['git', subcommand]) ? 'reads' : 'unknown';
}

function withoutInPlace(words: readonly ShellWord[]): ShellWord[] {
  return words.filter(({ literal }) => !/^(-[nEr]*i|--in-place)/.test(literal ?? ''));
}
