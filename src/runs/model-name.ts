import { configProblem } from '../protocol/problem.js';

export interface ModelChoice {
  readonly provider: 'gemini' | 'vertex';
  readonly name: string;
}

const NAME = /^[a-z0-9][a-z0-9.-]*$/i;

/** Which provider a model name means. */
export function parseModel(text: string): ModelChoice {
  const vertex = /^vertex\/(.+)$/.exec(text)?.[1];
  if (vertex !== undefined && NAME.test(vertex)) return { provider: 'vertex', name: vertex };
  if (text.startsWith('gemini-') && NAME.test(text)) return { provider: 'gemini', name: text };
  if (text.startsWith('openai/')) {
    throw configProblem('model', `the model ${text} is not supported yet in this version`, {
      hint: 'Use gemini-… or vertex/….',
    });
  }
  throw configProblem('model', `unknown model name ${JSON.stringify(text)}`, {
    hint: 'Use gemini-… (API key) or vertex/… (Google Cloud), such as gemini-2.5-flash.',
  });
}
