import { dirname } from 'node:path';
import type { Path, FilePosition } from '../lib/yaml.js';
import { configProblem, type Problem } from '../protocol/problem.js';

/** A policy file as it is written: valid by the schema, not combined yet. */
export interface PolicySource {
  readonly file: string;
  readonly sha256: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly locate: (path: Path) => FilePosition;
}

/** `file:line:column`, which editors and people can follow. */
export function positionOf(source: Pick<PolicySource, 'file' | 'locate'>, path: Path): string {
  const { line, column } = source.locate(path);
  return `${source.file}:${line}:${column}`;
}

export function policyProblem(
  source: Pick<PolicySource, 'file' | 'locate'>,
  path: Path,
  message: string,
): Problem {
  return configProblem('policy', `${positionOf(source, path)}: ${message}`);
}

export function policyFolder({ file }: Pick<PolicySource, 'file'>): string {
  return dirname(file);
}
