import { configProblem } from '../protocol/problem.js';

export interface ModelChoice {
  readonly provider: 'gemini' | 'vertex' | 'openai';
  readonly name: string;
}

const NAME = /^[a-z0-9][a-z0-9.-]*$/i;
/** Servers name their models as they like: `org/model`, `model:tag`, `@host/model`. */
const FOREIGN_NAME = /^[\x21-\x7e]{1,256}$/;

/** Which provider a model name means. */
export function parseModel(text: string): ModelChoice {
  const [, prefix, rest = ''] = /^(vertex|openai)\/(.*)$/s.exec(text) ?? [];
  if (prefix === 'vertex' && NAME.test(rest)) return { provider: 'vertex', name: rest };
  if (prefix === 'openai' && FOREIGN_NAME.test(rest)) return { provider: 'openai', name: rest };
  if (text.startsWith('gemini-') && NAME.test(text)) return { provider: 'gemini', name: text };
  throw configProblem('model', `unknown model name ${JSON.stringify(text)}`, {
    hint: 'Use gemini-… (API key), vertex/… (Google Cloud) or openai/… (any OpenAI-compatible server), such as gemini-2.5-flash.',
  });
}
