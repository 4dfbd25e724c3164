import { plainReason } from '../lib/errors.js';
import { sha256 } from '../lib/ids.js';
import { readRegularFile } from '../lib/regular-file.js';
import { compileFaults, mostRelevantFirst } from '../lib/schema.js';
import { parseYaml } from '../lib/yaml.js';
import { configProblem } from '../protocol/problem.js';
import { policyProblem, type PolicySource } from './place.js';
import { READY } from './ready-validators.js';
import { POLICY_SCHEMA } from './schema.js';

/** Reads one file and checks it by the schema. */
export async function readSource(file: string): Promise<PolicySource> {
  let bytes: Buffer;
  try {
    bytes = readRegularFile(file, 1024 * 1024).bytes;
  } catch (error) {
    throw configProblem('policy', `the policy ${file} cannot be read: ${plainReason(error)}`);
  }
  return policySource(file, bytes);
}

/** Checks text that is not in a file yet, or not any more. */
export async function policySource(file: string, bytes: Buffer): Promise<PolicySource> {
  const parsed = parseYaml(bytes.toString('utf8'));
  if (!parsed.ok) {
    const { line, column } = parsed.place;
    throw configProblem('policy', `${file}:${line}:${column}: ${parsed.message}`);
  }
  const value = parsed.value as PolicySource['value'];
  const source = { file, sha256: sha256(bytes), value, locate: parsed.locate };
  const faults = (await compileFaults(POLICY_SCHEMA, READY['policy']))(parsed.value);
  const [fault] = mostRelevantFirst(faults);
  if (fault) throw policyProblem(source, fault.path, fault.message);
  return source;
}
