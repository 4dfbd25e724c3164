import { policyProblem, type PolicySource } from './source.js';

/** With these a program runs code of whoever set them. */
const RUNS_CODE = /^(LD_\w+|DYLD_\w+|GIT_CONFIG\w*|NODE_OPTIONS|BASH_ENV|ENV|PROMPT_COMMAND)$/;
/** What Bosun itself asks the model with. */
const OF_THE_MODEL = new Set(['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'OPENAI_API_KEY']);

/** Some variables no program inherits, even if a policy wants it to. */
export function checkPassed(source: PolicySource): void {
  const { shell, on_ask, mcp } = source.value;
  check(source, ['shell', 'env', 'pass'], shell?.env?.pass);
  if (typeof on_ask === 'object') check(source, ['on_ask', 'env', 'pass'], on_ask.env?.pass);
  for (const [name, server] of Object.entries(mcp?.servers ?? {}))
    check(source, ['mcp', 'servers', name, 'env', 'pass'], server.env?.pass);
}

function check(source: PolicySource, path: readonly string[], names: readonly string[] = []): void {
  for (const [i, name] of names.entries()) {
    const fault = faultOf(name);
    if (fault) throw policyProblem(source, [...path, i], fault);
  }
}

function faultOf(name: string): string | undefined {
  if (!/^[A-Za-z_]\w*$/.test(name))
    return `${JSON.stringify(name)} is no name of a variable; name each one that is meant`;
  if (OF_THE_MODEL.has(name)) return `${name} is what the model is asked with; no program gets it`;
  if (!RUNS_CODE.test(name)) return undefined;
  return `${name} can make programs run other code, so it is never passed on; write its value under \`set\``;
}
