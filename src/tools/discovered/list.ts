import { isDeeperThan, MAX_DEPTH, tooDeep } from '../../lib/depth.js';
import { plainParameters } from '../../lib/plain-schema.js';
import { oneLine } from '../../lib/text.js';
import type { RunCommand } from '../../protocol/process.js';
import type { DiscoveryDeclaration } from '../../protocol/source.js';
import type { JsonSchema } from '../../protocol/tool.js';

export interface DiscoverySettings extends Pick<DiscoveryDeclaration, 'list' | 'call'> {
  readonly workspace: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly runCommand: RunCommand;
  readonly isReadOnly: (tool: string) => boolean;
}

export interface Declaration {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

export interface Listed {
  readonly declarations: readonly Declaration[];
  /** What is wrong with the list, one sentence per fault. */
  readonly faults: readonly string[];
}

const MAX_LIST_BYTES = 8 * 1024 * 1024;
const MAX_ERROR_BYTES = 4000;

/** Asks the user's command for its tools. */
export async function listDiscovered(settings: DiscoverySettings, signal: AbortSignal): Promise<Listed> {
  const { list, workspace, environment, timeoutMs, idleTimeoutMs } = settings;
  const tooLong = new AbortController();
  const output = collector(MAX_LIST_BYTES, () => tooLong.abort());
  const errors = collector(MAX_ERROR_BYTES, () => {});
  const end = await settings.runCommand({
    command: list,
    directory: workspace,
    environment,
    timeoutMs,
    idleTimeoutMs,
    signal: AbortSignal.any([signal, tooLong.signal]),
    onOutput: output.add,
    onErrorOutput: errors.add,
  });
  const fault = (why: string): Listed => {
    const said = errors.text().trim();
    return { declarations: [], faults: [said ? `${why}; it said: ${oneLine(said, 1000)}` : why] };
  };
  if (end.type === 'not_started') return fault(`it cannot be started: ${end.message}`);
  if (tooLong.signal.aborted) return fault(`it printed more than ${MAX_LIST_BYTES} bytes`);
  if (end.stopped) return fault(end.stopped === 'aborted' ? 'it was cancelled' : 'it did not end in time');
  if (end.exitCode !== 0) return fault(`it ended with ${end.signal ?? `exit code ${end.exitCode}`}`);
  return declarationsIn(output.text()) ?? fault('it did not print JSON');
}

function collector(maxBytes: number, onFull: () => void) {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add: (chunk: Uint8Array) => {
      if (size > maxBytes) return;
      chunks.push(chunk.subarray(0, maxBytes));
      size += chunk.length;
      if (size > maxBytes) onFull();
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}

/** An array of declarations, or of objects that hold such arrays. Undefined if it is not JSON. */
export function declarationsIn(text: string): Listed | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (isDeeperThan(value, MAX_DEPTH))
    return { declarations: [], faults: [`of what it printed ${tooDeep()}`] };
  const declarations: Declaration[] = [];
  const faults: string[] = [];
  const entries = Array.isArray(value) ? (value as unknown[]) : [value];
  for (const entry of entries.flatMap(unwrap)) {
    const declaration = declarationOf(entry);
    if (typeof declaration === 'string') faults.push(declaration);
    else if (declarations.some(({ name }) => name === declaration.name))
      faults.push(`${oneLine(declaration.name, 100)} is declared twice`);
    else declarations.push(declaration);
  }
  return { declarations, faults };
}

function unwrap(entry: unknown): unknown[] {
  if (typeof entry !== 'object' || entry === null) return [entry];
  const { function_declarations: snake, functionDeclarations: camel } = entry as Record<string, unknown>;
  const inner = snake ?? camel;
  return inner === undefined ? [entry] : Array.isArray(inner) ? inner : [inner];
}

/** A declaration, or what is wrong with it. */
function declarationOf(entry: unknown): Declaration | string {
  const fields = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
  const { name, description } = fields;
  if (typeof name !== 'string' || name.trim() === '')
    return `a tool has no name: ${oneLine(JSON.stringify(entry), 200)}`;
  if (name.includes('\0')) return `the name ${oneLine(name, 100)} contains a NUL character`;
  const schema = fields['parametersJsonSchema'] ?? fields['parameters_json_schema'] ?? fields['parameters'];
  const plain = plainParameters(schema);
  if (!plain.ok) return `the tool ${oneLine(name, 100)} cannot be used: ${plain.why}`;
  return { name, description: typeof description === 'string' ? description : '', parameters: plain.schema };
}
