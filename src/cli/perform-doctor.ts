import { examine } from '../doctor/examine.js';
import { exitCodeFor, type Finding } from '../doctor/finding.js';
import { toJsonText } from '../lib/jsonl.js';
import { oneLine } from '../lib/text.js';
import type { DoctorFlags } from './flags/doctor.js';
import { stoppable } from './stop-on-signals.js';
import type { Terminal } from './terminal.js';

const MOST_CHARACTERS = 2000;

export async function performDoctor(flags: DoctorFlags, terminal: Terminal): Promise<void> {
  const { cwd = terminal.cwd, policy = [], mode, model, sandbox, online = false, json } = flags;
  const { variables, learn: onLoaded } = terminal;
  const folder = terminal.cwd;
  const findings = await stoppable((signal) =>
    examine({
      ...{ cwd, variables, model, sandbox, online, signal },
      ...{ policies: policy, mode, folder, onLoaded },
    }),
  );
  terminal.exitCode = exitCodeFor(findings);
  if (json) {
    terminal.stdout(`${toJsonText({ exit_code: terminal.exitCode, checks: findings })}\n`);
    return;
  }
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const finding of findings) terminal.show(`${lineOf(finding, width)}\n`);
}

function lineOf({ check, status, message, hint }: Finding, width: number): string {
  const said = hint === undefined ? message : `${message.replace(/\.?$/, '.')} ${hint}`;
  return `${status.padEnd(4)}  ${check.padEnd(width)}  ${oneLine(said, MOST_CHARACTERS)}`;
}
