import { parseYaml } from '../../lib/yaml.js';
import { batchProblem } from '../spec.js';
import { tasksText } from './text.js';
import { rowOf, type Row } from './row.js';

/** Tasks as a list of objects. */
export function readYaml(bytes: Buffer, name: string): Row[] {
  const parsed = parseYaml(tasksText(bytes, name));
  if (!parsed.ok)
    throw batchProblem(`${name}:${parsed.place.line}:${parsed.place.column}: ${parsed.message}`);
  const placeOf = (path: readonly (string | number)[]) => {
    const { line, column } = parsed.locate(path);
    return `${name}:${line}:${column}`;
  };
  if (!Array.isArray(parsed.value))
    throw batchProblem(`${placeOf([])}: a file of tasks must be a list of objects`);
  return parsed.value.map((value, i) =>
    rowOf(value, placeOf([i]), (message) => batchProblem(`${placeOf([i])}: ${message}`)),
  );
}
