import { isFolder } from '../../lib/folders.js';
import { own } from '../../lib/own.js';
import { INTERPRETERS } from '../lint.js';
import type { ShellWord } from '../shell/model.js';
import { hazardOf } from '../shell/programs.js';
import { lessonOf } from './command-lesson.js';
import {
  editsManifest,
  followsManifest,
  GOAL_RUNNERS,
  neverProgram,
  SCRIPT_STARTERS,
  SUBCOMMANDS,
} from './never.js';
import { runsProject } from './script-changes.js';
import { isMoreThanWrapper, unwrap } from '../shell/wrappers.js';

/** Programs that bring no content, whatever they are given. */
const EMPTY_HANDED = /^(rm|rmdir|mkdir|touch|chmod|chown|chgrp)$/;

/** Whether a command that writes says which files. A link, or a folder, brings names of its own. */
export function namesItsFiles(words: readonly ShellWord[]): boolean {
  const [name = '', ...rest] = words.map(({ literal = '' }) => literal);
  if (EMPTY_HANDED.test(name)) return true;
  if (name === 'git') return !/^(mv|init)$/.test(rest.find((word) => !word.startsWith('-')) ?? '');
  if (!words.every(isPlain) || name === 'ln') return false;
  if (name === 'cp') return !rest.some((word) => /^(-[a-zA-Z]*[rRadTslH]|--[^=]+$)/.test(word));
  return name !== 'mv' || !rest.some(isFolder);
}

export function isPlain({ literal, glob }: ShellWord): boolean {
  return literal !== undefined && !glob;
}

/** Variables of the line alone, requests that write no file, and what a program says of itself. */
export function writesNothing(words: readonly ShellWord[]): boolean {
  const [name = '', first = '', ...rest] = words.map(({ literal = '' }) => literal);
  if (rest.length === 0 && asksForVersion(name, first)) return true;
  if (name === 'command') return /^-[vV]$/.test(first);
  if (name === 'export') return true;
  if (!words.every(isPlain)) return false;
  const isRequest = name === 'git' && /^(fetch|push|ls-remote|remote)$/.test(first) && !hazardOf(words, 2);
  return isRequest || (name === 'curl' && !hazardOf(words, 1));
}

function asksForVersion(name: string, option: string): boolean {
  if (option === '-v') return name === 'node' || own(SCRIPT_STARTERS, name) !== undefined;
  return !name.includes('/') && /^--(version|help)$/.test(option);
}

/** Whether what a command does is in the project and not in its words, although no rule may be made of it. */
export function followsProject(words: readonly ShellWord[], isFed: boolean): boolean {
  if (isFed || !words.every(isPlain)) return false;
  const texts = words.map(({ literal = '' }) => literal);
  const [name = ''] = texts;
  if (own(SCRIPT_STARTERS, name)) return !hazardOf(words, 2) && !editsManifest(texts) && !fetchesCode(texts);
  if (name.includes('/')) return false;
  if (words.length === 1) return neverProgram(name) === undefined;
  if (INTERPRETERS.has(name)) return startsFile(texts);
  return followsManifest(texts) || runsTests(words) || ('forms' in lessonOf(words) && !startsUnseen(words));
}

/** Package managers also run what the project does not name, or change what runs its scripts. */
function fetchesCode([name = '', command = '']: readonly string[]): boolean {
  if (/^(dlx|create|explore|edit|set|policies|plugin|global|import|env|self-update|setup)$/.test(command))
    return true;
  return /^(exec|x)$/.test(command) && (name === 'npm' || name === 'bun');
}

/** A wrapper may start what no rule is ever made for. */
function startsUnseen(words: readonly ShellWord[]): boolean {
  return unwrap(words) !== undefined && !isMoreThanWrapper(words) && words[0]?.literal !== 'npx';
}

/** With words that a rule cannot have: `pytest -k 'a and b'`. */
function runsTests(words: readonly ShellWord[]): boolean {
  const name = words[0]?.literal ?? '';
  const hasSubcommands = name === 'npx' || GOAL_RUNNERS.has(name) || own(SUBCOMMANDS, name) !== undefined;
  return runsProject([name]) && !hasSubcommands && !hazardOf(words, 1);
}

/** Given a file, they run it. */
const RUNS_FILES = /^((ba|da|z)?sh|python[23]?|node|bun|ruby|perl|php|lua)$/;

/** `node scripts/x.js`, `node --test`, `python -m pytest`: a file of the workspace, or a program that goes by it. */
function startsFile([name = '', first = '', second = '']: readonly string[]): boolean {
  if (name === 'node' && first === '--test') return !second.startsWith('-');
  if (name.startsWith('python') && first === '-m')
    return second === 'unittest' || (second !== 'npx' && runsProject([second]));
  return RUNS_FILES.test(name) && /^(?!\.\.|.*\/\.\.\/)[\w@.][\w@./-]*\.\w+$/.test(first);
}
