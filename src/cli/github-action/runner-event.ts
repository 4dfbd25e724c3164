import { readFileSync } from 'node:fs';

type Variables = Readonly<Record<string, string | undefined>>;

/** What started the workflow. */
export interface RunnerEvent {
  /** The checkout is probably written by an untrusted author. */
  readonly isPullRequest: boolean;
  /** GitHub withholds secrets from it. */
  readonly hasNoSecrets: boolean;
}

interface Payload {
  readonly repository?: { readonly full_name?: string };
  readonly pull_request?: {
    readonly head?: { readonly repo?: { readonly full_name?: string } | null };
    readonly user?: { readonly login?: string };
  };
}

export function readRunnerEvent(variables: Variables): RunnerEvent {
  const name = variables['GITHUB_EVENT_NAME'] ?? '';
  const { pull_request: request, repository } = payloadAt(variables['GITHUB_EVENT_PATH']);
  const isFork = request !== undefined && request.head?.repo?.full_name !== repository?.full_name;
  const isDependabot = variables['GITHUB_ACTOR'] === 'dependabot[bot]';
  return {
    isPullRequest: name.startsWith('pull_request'),
    hasNoSecrets: name === 'pull_request' && (isFork || isDependabot),
  };
}

function payloadAt(path: string | undefined): Payload {
  try {
    return path ? (JSON.parse(readFileSync(path, 'utf8')) as Payload) : {};
  } catch {
    return {};
  }
}
