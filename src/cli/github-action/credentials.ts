import { configProblem, Problem } from '../../protocol/problem.js';
import { ACCESS_VARIABLES, choiceOf, PROVIDERS } from '../../providers/registry.js';
import type { Inputs } from './inputs.js';
import type { RunnerEvent } from './runner-event.js';

type Variables = Readonly<Record<string, string | undefined>>;

/** The credentials in the inputs, as the variables that a run reads. */
export function credentialsOf(inputs: Inputs): Record<string, string> {
  const [key, model, project, location] = (
    ['api-key', 'model', 'vertex-project', 'vertex-location'] as const
  ).map((name) => inputs.value(name)) as [string, string, string, string];
  const namesVertex = (project || location) !== '';
  if (key) refuseVertex(model, namesVertex);
  else if (namesVertex && (model || !inputs.has('policy'))) refuseOther(model || 'gemini-2.5-pro');
  return {
    ...(key && { [keyVariable(model)]: key }),
    ...(project && { GOOGLE_CLOUD_PROJECT: project }),
    ...(location && { GOOGLE_CLOUD_LOCATION: location }),
  };
}

function refuseVertex(model: string, namesVertex: boolean): void {
  if (namesVertex)
    throw configProblem('input', 'inputs api-key and vertex-project or vertex-location are both given', {
      hint: 'Keep the key, or the project of a vertex/… model.',
    });
  if (model.startsWith('vertex/'))
    throw configProblem('input', `input api-key cannot be used with model ${model}`, {
      hint: 'A vertex/… model takes application default credentials; see google-github-actions/auth.',
    });
}

function refuseOther(model: string): void {
  if (model.startsWith('vertex/')) return;
  throw configProblem('input', `inputs vertex-… cannot be used with model ${model}`, {
    hint: `Write model: vertex/${model.split('/').at(-1) || 'gemini-2.5-pro'}.`,
  });
}

/** The variable that holds the key for a model. */
function keyVariable(model: string): string {
  const { provider = 'gemini' } = choiceOf(model) ?? {};
  return PROVIDERS[provider].secrets[0] ?? PROVIDERS.gemini.secrets[0];
}

/** A secret that is not set arrives as an empty input: saying so helps more than naming a variable. */
export function refuseMissingKey(args: readonly string[], variables: Variables, event: RunnerEvent): void {
  if (
    ACCESS_VARIABLES.some((name) => variables[name]?.trim()) ||
    args.some((word) => /^--replay\b/.test(word))
  )
    return;
  const hint = event.hasNoSecrets
    ? 'GitHub gives no secrets to workflows of pull requests from forks and of Dependabot: skip this step there, or see docs/recipes/review.'
    : 'Is the secret set, and is its name spelled correctly? Or set GEMINI_API_KEY in the environment of the job.';
  throw new Problem(
    'auth',
    'no_credentials',
    'input api-key is empty, and the job has no other credentials',
    {
      hint,
    },
  );
}
