import { dirname, isAbsolute, join, resolve } from 'node:path';
import { readdirSync } from 'node:fs';
import { errorMessage } from '../lib/errors.js';
import { sha256 } from '../lib/ids.js';
import { nearest } from '../lib/nearest.js';
import { readRegularFile } from '../lib/regular-file.js';
import { compileFaults, type Fault } from '../lib/schema.js';
import { parseYaml, type Path, type Place } from '../lib/yaml.js';
import type { Prices } from '../protocol/price.js';
import { configProblem, type Problem } from '../protocol/problem.js';
import type { ModelSettings } from '../protocol/provider.js';
import type { GitTrust } from '../protocol/sandbox.js';
import type { PolicyLoops } from './document.js';
import type { RawSandbox } from './sandbox-keys.js';
import { POLICY_SCHEMA } from './schema.js';

/** A policy file as it is written: valid by the schema, nothing put together yet. */
export interface PolicySource {
  readonly file: string;
  readonly sha256: string;
  readonly value: RawPolicy;
  readonly locate: (path: Path) => Place;
}

type Texts = string | readonly string[];

export interface RawRule {
  readonly id: string;
  readonly tool: Texts;
  readonly command?: Texts;
  readonly path?: Texts;
  readonly when?: 'untrusted';
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly reason?: string;
  readonly parallel?: boolean;
  readonly match?: readonly string[];
  readonly not_match?: readonly string[];
}

interface RawEnvironment {
  readonly pass?: readonly string[];
  readonly set?: Readonly<Record<string, string>>;
}

export interface RawApprover {
  readonly command: readonly string[];
  readonly timeout?: string;
  readonly env?: RawEnvironment;
}

export interface RawPolicy {
  readonly extends?: readonly string[];
  readonly mode?: 'plan' | 'manual' | 'auto_edit' | 'yolo';
  readonly on_ask?: 'deny' | 'fail' | 'defer' | RawApprover;
  readonly approvals?: { readonly trusted_keys?: readonly string[] };
  readonly on_denied?: 'fail' | 'warn' | 'ignore';
  readonly rules?: readonly RawRule[];
  readonly tools?: { readonly offer?: readonly string[]; readonly exclude?: readonly string[] };
  readonly workspace?: Readonly<
    Record<'include' | 'read_deny' | 'write_deny' | 'write_allow', readonly string[] | undefined>
  >;
  readonly shell?: {
    readonly timeout?: string;
    readonly idle_timeout?: string;
    readonly read_scope?: 'any' | 'workspace';
    readonly git?: GitTrust;
    readonly env?: RawEnvironment;
  };
  readonly network?: { readonly allow?: readonly string[]; readonly private?: 'allow' | 'deny' };
  readonly limits?: Readonly<Record<string, number | string>>;
  readonly model?: Partial<ModelSettings> & {
    readonly name?: string;
    readonly fallback?: readonly string[];
    readonly prices?: Readonly<Record<string, Prices>>;
    readonly context_window?: number;
  };
  readonly context?: { readonly files?: readonly string[]; readonly compress_at?: number };
  readonly loops?: PolicyLoops;
  readonly memory?: { readonly file?: string };
  readonly web?: { readonly model?: string };
  readonly sandbox?: RawSandbox;
  readonly success?: {
    readonly verify?: readonly string[];
    readonly require_changes?: boolean;
    readonly repairs?: number;
  };
  readonly patch?: {
    readonly max_files?: number;
    readonly max_bytes?: number;
    readonly paths?: readonly string[];
  };
  readonly redact?: { readonly env?: readonly string[]; readonly patterns?: readonly string[] };
  readonly mcp?: { readonly servers?: Readonly<Record<string, RawServer>> };
  readonly discovery?: {
    readonly list: readonly string[];
    readonly call: readonly string[];
    readonly required?: boolean;
    readonly read_only_tools?: readonly string[];
    readonly parallel?: boolean;
  };
}

export interface RawServer {
  readonly command?: readonly string[];
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly env?: { readonly pass?: readonly string[]; readonly set?: Readonly<Record<string, string>> };
  readonly required?: boolean;
  readonly trust?: boolean;
  readonly include_tools?: readonly string[];
  readonly exclude_tools?: readonly string[];
  readonly read_only_tools?: readonly string[];
  readonly parallel?: boolean;
  readonly connect_timeout?: string;
  readonly timeout?: string;
  readonly idle_timeout?: string;
}

/** `file:line:column`, which editors and people can follow. */
export function placeOf(source: Pick<PolicySource, 'file' | 'locate'>, path: Path): string {
  const { line, column } = source.locate(path);
  return `${source.file}:${line}:${column}`;
}

export function policyProblem(
  source: Pick<PolicySource, 'file' | 'locate'>,
  path: Path,
  message: string,
): Problem {
  return configProblem('policy', `${placeOf(source, path)}: ${message}`);
}

export function presetNames(presets: string): string[] {
  return readdirSync(presets)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.slice(0, -'.yaml'.length))
    .sort();
}

/** A word without `/` and `.` is a preset; everything else is a path, from where it is named. */
export function policyFile(name: string, folder: string, presets: string): string {
  if (/[/.\\]/.test(name)) return isAbsolute(name) ? name : resolve(folder, name);
  const known = presetNames(presets);
  if (known.includes(name)) return join(presets, `${name}.yaml`);
  const near = nearest(name, known);
  throw configProblem('policy', `there is no preset ${name}${near ? ` (did you mean ${near}?)` : ''}`, {
    hint: `The presets are ${known.join(', ')}; a file needs a / or a . in its name.`,
  });
}

/** Reads one file and checks it by the schema. */
export async function readSource(file: string): Promise<PolicySource> {
  let bytes: Buffer;
  try {
    bytes = readRegularFile(file, 1024 * 1024).bytes;
  } catch (error) {
    throw configProblem('policy', `the policy ${file} cannot be read: ${errorMessage(error)}`);
  }
  const parsed = parseYaml(bytes.toString('utf8'));
  if (!parsed.ok) {
    const { line, column } = parsed.place;
    throw configProblem('policy', `${file}:${line}:${column}: ${parsed.message}`);
  }
  const source = { file, sha256: sha256(bytes), value: parsed.value as RawPolicy, locate: parsed.locate };
  const faults = (await compileFaults(POLICY_SCHEMA))(parsed.value);
  const [fault] = byDepth(faults);
  if (fault) throw policyProblem(source, fault.path, fault.message);
  return source;
}

/** Where alternatives fail, the deepest fault is the one that was meant; unknown keys go first. */
function byDepth(faults: readonly Fault[]): Fault[] {
  const isKey = ({ message }: Fault) => Number(/is not known/.test(message));
  return [...faults].sort((a, b) => isKey(b) - isKey(a) || b.path.length - a.path.length);
}

export function folderOf({ file }: Pick<PolicySource, 'file'>): string {
  return dirname(file);
}
