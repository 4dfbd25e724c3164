import { MODEL_CREDENTIALS } from '../../protocol/model-credentials.js';
import { policyProblem, type PolicySource } from '../place.js';
import { mapOf, object, textsOrNone } from './schemas.js';

export const PASS = textsOrNone('Variables to pass on, by name.', { examples: [['NODE_ENV']] });
export const SET = mapOf({ type: 'string' }, 'Variables to set.', { examples: [{ FORCE_COLOR: '0' }] });
export const ABOUT_ENVIRONMENT = 'Which variables programs see, besides PATH, HOME, LANG and the like.';

/** What programs get of our environment. */
export const ENVIRONMENT = object(ABOUT_ENVIRONMENT, { pass: PASS, set: SET });

/** With these, a program runs code that the variable names. */
const RUNS_CODE = /^(LD_\w+|DYLD_\w+|GIT_CONFIG\w*|NODE_OPTIONS|BASH_ENV|ENV|PROMPT_COMMAND)$/;

/** Some variables are never passed, even if a policy asks for it. */
export function passedVariables(
  names: readonly string[] = [],
  source: PolicySource,
  path: readonly string[],
): readonly string[] {
  for (const [i, name] of names.entries()) {
    const fault = variableFault(name);
    if (fault) throw policyProblem(source, [...path, i], fault);
  }
  return names;
}

function variableFault(name: string): string | undefined {
  if (!/^[A-Za-z_]\w*$/.test(name))
    return `${JSON.stringify(name)} is not the name of a variable; list each one by its name`;
  if (MODEL_CREDENTIALS.includes(name)) return `${name} is a key of the model; no program gets it`;
  if (!RUNS_CODE.test(name)) return undefined;
  return `${name} can make programs run other code, so it is never passed on; write its value under \`set\``;
}
