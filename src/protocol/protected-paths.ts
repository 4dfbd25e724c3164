/** Files that other programs execute, or that decide what they execute, without being asked or checked first. */
export interface ProtectedPaths {
  /** Which programs do so. */
  readonly reason: string;
  /** From the top of the workspace; `*` matches within a name. A folder includes all that is in it. */
  readonly paths: readonly string[];
  /** Whether they count in every folder, not only at the top. */
  readonly anywhere: boolean;
}

/**
 * The one list. A service reads its files at the top of a repository; a program that a person starts reads those of its
 * folder. What runs only on request (`package.json`, a Makefile, a Dockerfile) is ordinary work, and so is what names
 * no program (`.gitattributes`, `.gitmodules`).
 */
export const PROTECTED_PATHS: readonly ProtectedPaths[] = [
  { reason: 'git runs what is in it', paths: ['.git'], anywhere: true },
  {
    reason: 'a CI service runs what it says',
    paths: [
      ...['.github/workflows', '.github/actions', '.gitea/workflows', '.forgejo/workflows'],
      ...['.gitlab-ci.yml', '.gitlab/ci', '.circleci', '.buildkite', '.semaphore', '.teamcity', '.tekton'],
      ...['azure-pipelines*.yml', 'azure-pipelines*.yaml', '.azure-pipelines', 'bitbucket-pipelines.yml'],
      ...['Jenkinsfile*', '.travis.yml', '.drone.yml', '.drone.yaml', '.drone.star', '.drone.jsonnet'],
      ...['appveyor.yml', '.appveyor.yml', '.cirrus.yml', '.cirrus.star', '.woodpecker', '.woodpecker.y*ml'],
      ...['cloudbuild.yaml', 'cloudbuild.yml', 'buildspec.yml', 'buildspec.yaml'],
    ],
    anywhere: false,
  },
  {
    reason: 'git runs what it says at the next commit',
    paths: [
      ...['.husky', '.githooks', '.lefthook', 'lefthook*.yml', '.lefthook*.yml', 'lefthook*.yaml'],
      ...['lefthook*.toml', 'lefthook*.json', '.pre-commit-config.yaml', '.pre-commit-config.yml'],
      ...['.overcommit.yml', '.simple-git-hooks.*', 'simple-git-hooks.*', '.gitconfig'],
    ],
    anywhere: true,
  },
  {
    reason: 'an editor runs what it says when somebody opens the folder',
    paths: [
      ...['.vscode/tasks.json', '.vscode/settings.json', '.vscode/launch.json', '.vscode/mcp.json'],
      ...['.vscode/c_cpp_properties.json', '*.code-workspace', '.idea', '.run', '.zed', '.fleet'],
      ...['.devcontainer', '.devcontainer.json', '.exrc', '.nvimrc', '.nvim.lua', '.dir-locals.el'],
    ],
    anywhere: true,
  },
  {
    reason: 'another agent obeys it',
    paths: [
      ...['.claude', '.gemini', '.cursor', '.codex', '.mcp.json', '.continue', '.windsurf', '.amazonq'],
      ...['.kiro', '.roo', '.opencode', 'opencode.json', 'opencode.jsonc', '.aider.conf.yml'],
    ],
    anywhere: true,
  },
  { reason: 'a shell runs it when somebody enters the folder', paths: ['.envrc'], anywhere: true },
];

/** Packages contain copies of such files, and nobody starts anything there. */
const IN_PACKAGES = /(?:^|\/)node_modules\//;

const escaped = (path: string) =>
  path
    .toLowerCase()
    .replaceAll(/[.+]/g, String.raw`\$&`)
    .replaceAll('*', '[^/]*');
const expression = ({ paths, anywhere }: Pick<ProtectedPaths, 'paths' | 'anywhere'>) =>
  `${anywhere ? '(?:^|/)' : '^'}(?:${paths.map(escaped).join('|')})`;
const anyOfRows = (rows: readonly ProtectedPaths[]) =>
  new RegExp(rows.map((row) => `${expression(row)}(?:/|$)`).join('|'));

/** One expression for all, because most paths match none of them. */
const ANY = anyOfRows(PROTECTED_PATHS);
const EACH = PROTECTED_PATHS.map((row) => ({ ...row, fits: anyOfRows([row]) }));
const GIT = /(?:^|\/)\.git(?:\/|$)/;

/** Why a path is protected, from the top of a workspace with `/`; undefined if it is not. Ignores case. */
export function protectionOf(path: string): string | undefined {
  const lower = path.toLowerCase();
  if (!ANY.test(lower) || (IN_PACKAGES.test(lower) && !GIT.test(lower))) return undefined;
  return EACH.find(({ fits }) => fits.test(lower))?.reason;
}

const above = PROTECTED_PATHS.map((row) => ({
  ...row,
  paths: [...new Set(row.paths.filter((path) => path.includes('/')).map((path) => path.replace(/\/.*/, '')))],
})).filter(({ paths }) => paths.length > 0);
const ABOVE = new RegExp(above.map((row) => `${expression(row)}$`).join('|'));

/** Whether a folder contains protected files among others: `.github`, `.vscode`. */
export function holdsProtected(path: string): boolean {
  return ABOVE.test(path.toLowerCase());
}

/** The protected places at the top of a workspace that have plain names. */
export const PROTECTED_PLACES: readonly string[] = PROTECTED_PATHS.flatMap(({ paths }) => paths).filter(
  (path) => !path.includes('*'),
);
