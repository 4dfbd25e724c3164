import { fnmatch } from '../../../lib/fnmatch.js';
import { isIgnored } from './ignore-files.js';

/** How a program walks through the folders that it is given. */
export interface FolderWalk {
  readonly links: 'passed' | 'followed' | 'moved';
  /**
   * If given, the program skips names that begin with a dot, unless an ignore file or this function brings them back.
   */
  readonly revives?: (name: string, isFolder: boolean) => boolean;
  /**
   * Without an operand, it walks through the folder that it runs in; some programs only if they have no input either.
   */
  readonly alone?: 'always' | 'without input';
  /** It may do so even with operands. */
  readonly everywhere?: boolean;
  /** Whether it reads a file, as far as the name decides that. */
  readonly admits?: (name: string, path: string) => boolean;
  /** It only reads anything if at least two of its operands exist. */
  readonly pairs?: boolean;
  readonly enters?: (name: string) => boolean;
}

const has = (options: readonly string[], expression: RegExp) =>
  options.some((option) => expression.test(option));

export function grepWalk(options: readonly string[]): FolderWalk | undefined {
  if (!has(options, /^(-[a-zA-Z0-9]*[rRd]|--(rec|der|di))/)) return undefined;
  const follows = has(options, /^(-[a-zA-Z0-9]*R|--der)/);
  return {
    links: follows ? 'followed' : 'passed',
    alone: 'always',
    // The file with the patterns looks like an operand, and may be the only one.
    ...(has(options, /^(-[a-zA-Z0-9]*f|--fi)/) && { everywhere: true }),
    ...grepFilters(options),
  };
}

/** `--include`, `--exclude` and `--exclude-dir`, as far as they are clear. */
function grepFilters(options: readonly string[]): Pick<FolderWalk, 'admits' | 'enters'> {
  const filters = options.flatMap((option) => {
    const [, kind = '', pattern = ''] = /^--(include|exclude|exclude-dir)=(.*)$/s.exec(option) ?? [];
    return kind === '' ? [] : [{ kind, fits: fnmatch(pattern) }];
  });
  const tests = (kind: string) => filters.filter((filter) => filter.kind === kind).map(({ fits }) => fits);
  const [includes, excludes, folders] = [tests('include'), tests('exclude'), tests('exclude-dir')];
  const isPicky = filters.find(({ kind }) => kind !== 'exclude-dir')?.kind === 'include';
  return {
    // The last match decides, but their order is not known here.
    admits: (name) =>
      includes.some((fits) => fits?.(name) ?? true) || !(isPicky || excludes.some((fits) => fits?.(name))),
    enters: (name) => !folders.some((fits) => fits?.(name)),
  };
}

/** Names of hidden files that have no type known to rg. */
const UNTYPED =
  /^\.(env(\.(local|production|development|staging|test))*|npmrc|netrc|pypirc|git-credentials|pgpass|htpasswd)$/;

/** rg skips dot files, unless a glob or a type matches them. */
export function ripgrepWalk(options: readonly string[]): FolderWalk | undefined {
  if (options.includes('--files')) return undefined;
  const links = has(options, /^(-[a-zA-Z0-9]*L|--fol)/) ? 'followed' : 'passed';
  const base: FolderWalk = { links, alone: 'without input' };
  if (has(options, /^(-[a-zA-Z0-9]*[u.]|--(hid|unr|type-a|ig))/)) return base;
  const globs = options.flatMap((option) => /^(?:--i?glob=|-g=?)(.*)$/s.exec(option)?.[1] ?? []);
  const wanted = globs.filter((glob) => !glob.startsWith('!'));
  // If the glob itself is not visible, it could be any.
  if (has(options, /^(-[a-zA-Z0-9]+g|-g$|--i?glob$)/) || wanted.some((glob) => /[/{]/.test(glob)))
    return base;
  const tests = wanted.map((glob) => fnmatch(glob, { ignoreCase: true }));
  const isWanted = (name: string) => tests.some((fits) => fits?.(name) ?? true);
  const isTyped = has(options, /^(-[a-zA-Z0-9]*t|--type=)/);
  return {
    ...base,
    revives: (name, isFolder) => isWanted(name) || (isTyped && !isFolder && !UNTYPED.test(name)),
    ...(wanted.length > 0 && { admits: isWanted }),
  };
}

/** Only creating or changing an archive reads files: what is extracted was in the archive before. */
export function tarWalk(options: readonly string[]): FolderWalk | undefined {
  return has(options, /^(-[a-zA-Z]*[cruA]|--(cr|ap|up|cat|con))/) ? { links: 'followed' } : undefined;
}

/** What git adds, it can show later. It adds new files, unless they are ignored. */
export function gitAddWalk(options: readonly string[]): FolderWalk | undefined {
  if (has(options, /^(-u|--up)/)) return undefined;
  const takesAll = has(options, /^(-[a-zA-Z]*f|--fo)/);
  return {
    links: 'passed',
    ...(has(options, /^(-[a-zA-Z]*A|--a)/) && { alone: 'always' }),
    admits: (_, path) => takesAll || !isIgnored(path),
    enters: (name) => name !== '.git',
  };
}
