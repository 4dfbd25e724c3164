import type { Variables } from '../lib/redact/secrets.js';

/** The last ones name the author of a commit for git. */
const PASSED_ON = /^(PATH|HOME|LANG|LC_[A-Z_]+|TMPDIR|USER|SHELL|TZ|GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL))$/;

/** Our environment as programs that the model starts see it: never with a credential. */
export function childEnvironment(variables: Variables, extra: ExtraVariables): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && (PASSED_ON.test(name) || extra.pass.includes(name))) environment[name] = value;
  }
  return { ...environment, ...extra.set };
}

/** What a policy passes on or sets. */
export interface ExtraVariables {
  readonly pass: readonly string[];
  readonly set: Readonly<Record<string, string>>;
}

/** Files that decide what later steps of a workflow do. */
export function runnerFiles(variables: Variables): string[] {
  const names = ['GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY'];
  return names.flatMap((name) => variables[name] || []);
}
