import { isRecord } from '../../lib/record.js';
import { LAST_LINE, SEVERITIES, type CodeFinding } from '../../protocol/findings.js';

/** The findings of an answer; undefined if it does not follow the schema. */
export function findingsIn(answer: unknown): readonly CodeFinding[] | undefined {
  if (!isRecord(answer) || !Array.isArray(answer['findings'])) return undefined;
  const findings = answer['findings'] as unknown[];
  return findings.every(isFinding) ? findings.map(wellFormed) : undefined;
}

/** Half a character, which JSON allows, is in no address of a file, and makes readers reject a whole report. */
function wellFormed(finding: CodeFinding): CodeFinding {
  const entries = Object.entries(finding).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? value.toWellFormed() : value,
  ]);
  return Object.fromEntries(entries) as CodeFinding;
}

function isFinding(value: unknown): value is CodeFinding {
  if (!isRecord(value)) return false;
  const { file, line, end_line, rule, severity, message, fingerprint } = value;
  return (
    [file, rule, message].every(isText) &&
    isLine(line) &&
    (end_line === undefined || isLine(end_line)) &&
    (fingerprint === undefined || isText(fingerprint)) &&
    SEVERITIES.some((one) => one === severity)
  );
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isLine(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LAST_LINE;
}
