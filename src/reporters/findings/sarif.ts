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
  const exitCode = exitCodeOf(answers.map((answer) => answer.exitCode));
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
            ...(exitCode !== undefined && { exitCode }),
            toolExecutionNotifications: faults.map((text) => ({ level: 'error', message: { text } })),
          },
        ],
        results: found.map((one) => sarifResult(one, rules.indexOf(one.rule))),
      },
    ],
  })}\n`;
}

/** The first that is not 0; 0 only if all have ended, unknown otherwise. */
function exitCodeOf(codes: readonly (number | null)[]): number | undefined {
  return codes.find((code) => code !== null && code !== 0) ?? (codes.includes(null) ? undefined : 0);
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
