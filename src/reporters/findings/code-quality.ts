import { toJsonText } from '../../lib/jsonl.js';
import type { Severity } from '../../protocol/findings.js';
import { sha256 } from '../../lib/ids.js';
import { findingsFault, foundIn, type Answer } from './answers.js';

const SEVERITY: Readonly<Record<Severity, string>> = { error: 'major', warning: 'minor', note: 'info' };

/** Findings as GitLab's Code Quality report. It has no other place for an answer without findings than an issue. */
export function codeQualityText(answers: readonly Answer[]): string {
  const issues = foundIn(answers).map(
    ({ rule, severity, message, path, file, line, end_line, fingerprint }) => ({
      type: 'issue',
      check_name: rule,
      description: message,
      severity: SEVERITY[severity],
      fingerprint,
      location: {
        path: path ?? file,
        lines: { begin: line, ...(end_line !== undefined && end_line > line && { end: end_line }) },
      },
    }),
  );
  const faults = answers.flatMap((answer) => {
    const fault = findingsFault(answer);
    return fault === undefined ? [] : [issueFor(fault)];
  });
  return `${toJsonText([...faults, ...issues])}\n`;
}

function issueFor(fault: string) {
  return {
    type: 'issue',
    check_name: 'bosun',
    description: `No findings: ${fault}`,
    severity: 'blocker',
    fingerprint: sha256(fault),
    location: { path: '.', lines: { begin: 1 } },
  };
}
