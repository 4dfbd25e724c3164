import { fnmatch } from '../../../lib/fnmatch.js';
import { isIgnored } from './ignore-files.js';

/** How a program goes through the folders that it is given. */
export interface Tree {
  readonly links: 'passed' | 'followed' | 'moved';
  /** It leaves out what begins with a dot, unless an ignore file or this brings it back. */
  readonly revives?: (name: string, isFolder: boolean) => boolean;
  /** Without an operand it goes through the folder that it runs in; some only if they have no input either. */
  readonly alone?: 'always' | 'without input';
  /** It may do so whatever its operands are. */
  readonly everywhere?: boolean;
  /** Whether it looks at a file, as far as the name decides that. */
  readonly admits?: (name: string, path: string) => boolean;
  /** Only if two of its operands are there. */
  readonly pairs?: boolean;
  readonly enters?: (name: string) => boolean;
}

const has = (options: readonly string[], expression: RegExp) =>
  options.some((option) => expression.test(option));

export function grepTree(options: readonly string[]): Tree | undefined {
  if (!has(options, /^(-[a-zA-Z0-9]*[rRd]|--(rec|der|di))/)) return undefined;
  const follows = has(options, /^(-[a-zA-Z0-9]*R|--der)/);
  return {
    links: follows ? 'followed' : 'passed',
    alone: 'always',
    // The file of its patterns looks like an operand, and may be the only one.
    ...(has(options, /^(-[a-zA-Z0-9]*f|--fi)/) && { everywhere: true }),
    ...grepFilters(options),
  };
}

/** `--include`, `--exclude` and `--exclude-dir`, as far as they are clear. */
function grepFilters(options: readonly string[]): Pick<Tree, 'admits' | 'enters'> {
  const filters = options.flatMap((option) => {
    const [, kind = '', pattern = ''] = /^--(include|exclude|exclude-dir)=(.*)$/s.exec(option) ?? [];
    return kind === '' ? [] : [{ kind, fits: fnmatch(pattern) }];
  });
  const tests = (kind: string) => filters.filter((filter) => filter.kind === kind).map(({ fits }) => fits);
  const [includes, excludes, folders] = [tests('include'), tests('exclude'), tests('exclude-dir')];
  const isPicky = filters.find(({ kind }) => kind !== 'exclude-dir')?.kind === 'include';
  return {
    // The last that fits decides, and their order is not looked at here.
    admits: (name) =>
      includes.some((fits) => fits?.(name) ?? true) || !(isPicky || excludes.some((fits) => fits?.(name))),
    enters: (name) => !folders.some((fits) => fits?.(name)),
  };
}

/** Names of hidden files that are of no type that rg knows. */
const UNTYPED =
  /^\.(env(\.(local|production|development|staging|test))*|npmrc|netrc|pypirc|git-credentials|pgpass|htpasswd)$/;

/** rg leaves dot files out, but a glob or a type that fits one brings it back. */
export function searcherTree(options: readonly string[]): Tree | undefined {
  if (options.includes('--files')) return undefined;
  const links = has(options, /^(-[a-zA-Z0-9]*L|--fol)/) ? 'followed' : 'passed';
  const base: Tree = { links, alone: 'without input' };
  if (has(options, /^(-[a-zA-Z0-9]*[u.]|--(hid|unr|type-a|ig))/)) return base;
  const globs = options.flatMap((option) => /^(?:--i?glob=|-g=?)(.*)$/s.exec(option)?.[1] ?? []);
  const wanted = globs.filter((glob) => !glob.startsWith('!'));
  // Where the glob itself is not in sight it could be any.
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

/** Only what goes into an archive is read; what comes out of one was in it. */
export function tarTree(options: readonly string[]): Tree | undefined {
  return has(options, /^(-[a-zA-Z]*[cruA]|--(cr|ap|up|cat|con))/) ? { links: 'followed' } : undefined;
}

/** What git takes in it shows. It takes in what is new, unless it is ignored. */
export function addTree(options: readonly string[]): Tree | undefined {
  if (has(options, /^(-u|--up)/)) return undefined;
  const takesAll = has(options, /^(-[a-zA-Z]*f|--fo)/);
  return {
    links: 'passed',
    ...(has(options, /^(-[a-zA-Z]*A|--a)/) && { alone: 'always' }),
    admits: (_, path) => takesAll || !isIgnored(path),
    enters: (name) => name !== '.git',
  };
}
