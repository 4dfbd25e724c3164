import { LIMITED, parseLimit, type Limit } from '../../evidence/compare/gate.js';
import { plainReason } from '../../lib/errors.js';
import { nearest } from '../../lib/nearest.js';
import { isRecord } from '../../lib/record.js';
import { readRegularFile } from '../../lib/regular-file.js';
import { parseYaml } from '../../lib/yaml.js';
import { configProblem } from '../../protocol/problem.js';

/** Nobody writes more limits than that. */
const MAX_BYTES = 100_000;

/** The limits in a gate file: `cost_usd: +10%`, one a line. */
export function readGate(file: string): Limit[] {
  const parsed = parseYaml(textOf(file));
  if (!parsed.ok) throw gateProblem(`${file}:${parsed.place.line}:${parsed.place.column}: ${parsed.message}`);
  const { value, locate } = parsed;
  if (!isRecord(value) || Object.keys(value).length === 0)
    throw gateProblem(
      `${file} has no limits`,
      `Write one a line, such as pass_rate: -0; there are ${LIMITED.join(', ')}.`,
    );
  return Object.entries(value).map(([name, limit]) => {
    const read = parseLimit(name, limit);
    if (!('fault' in read)) return read;
    const { line, column } = locate([name]);
    const near = nearest(name, LIMITED);
    const hint = near !== undefined && near !== name ? `Did you mean ${near}?` : undefined;
    throw gateProblem(`${file}:${line}:${column}: ${read.fault}`, hint);
  });
}

function textOf(file: string): string {
  try {
    return readRegularFile(file, MAX_BYTES).bytes.toString('utf8');
  } catch (error) {
    throw gateProblem(`the gate file ${file} cannot be read: ${plainReason(error)}`);
  }
}

function gateProblem(message: string, hint?: string) {
  return configProblem('gate', message, hint === undefined ? {} : { hint });
}
