import { toJsonText } from '../../lib/jsonl.js';
import { VERSION } from '../../lib/version.js';
import { findingsFault, foundIn, type Answer, type Found } from './answers.js';

/**
 * Findings as SARIF 2.1.0. An answer without findings makes the invocation unsuccessful: it does not mean that
 * nothing was found.
 */
export function sarifText(answers: readonly Answer[]): string {
  const found = foundIn(answers);
  const rules = [...new Set(found.map(({ rule }) => rule))];
  const faults = answers.flatMap((answer) => findingsFault(answer) ?? []);
  const exitCode = answers.find(({ exitCode: code }) => code !== 0)?.exitCode ?? 0;
  return `${toJsonText({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'Bosun', semanticVersion: VERSION, rules: rules.map((id) => ({ id })) },
        },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: faults.length === 0,
            exitCode,
            toolExecutionNotifications: faults.map((text) => ({ level: 'error', message: { text } })),
          },
        ],
        results: found.map((one) => sarifResult(one, rules.indexOf(one.rule))),
      },
    ],
  })}\n`;
}

function sarifResult(
  { rule, severity, message, path, file, line, end_line, fingerprint }: Found,
  ruleIndex: number,
) {
  const region = { startLine: line, ...(end_line !== undefined && end_line > line && { endLine: end_line }) };
  const location =
    path === undefined
      ? undefined
      : { physicalLocation: { artifactLocation: { uri: uriOf(path), uriBaseId: '%SRCROOT%' }, region } };
  return {
    ruleId: rule,
    ruleIndex,
    level: severity,
    message: { text: location ? message : `${file}:${line}: ${message}` },
    locations: location ? [location] : [],
    partialFingerprints: { 'bosun/v1': fingerprint },
  };
}

function uriOf(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
