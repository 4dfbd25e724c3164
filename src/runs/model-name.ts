import { configProblem } from '../protocol/problem.js';
import { choiceOf, spelledOut, type ModelChoice } from '../providers/registry.js';

/** Which provider a model name means. */
export function parseModel(text: string): ModelChoice {
  const choice = choiceOf(text);
  if (choice) return choice;
  const all = spelledOut(
    () => true,
    ({ prefix, about }) => `${prefix}… (${about})`,
  );
  throw configProblem('model', `unknown model name ${JSON.stringify(text)}`, {
    hint: `Use ${all}, such as gemini-2.5-flash.`,
  });
}
