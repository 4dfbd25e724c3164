import type { Command } from 'commander';
import { approveCommand } from './command-approve.js';
import { compareCommand } from './command-compare.js';
import { completionCommand } from './command-completion.js';
import { demoCommand } from './command-demo.js';
import { doctorCommand } from './command-doctor.js';
import { gitHubActionCommand } from './command-github-action.js';
import { policyCommand } from './command-policy.js';
import { reportCommand } from './command-report.js';
import { resumeCommand } from './command-resume.js';
import { runsCommand } from './command-runs.js';
import { testCommand } from './command-test.js';
import { toolsCommand } from './command-tools.js';
import { verifyCommand } from './command-verify.js';
import { versionCommand } from './command-version.js';
import type { OtherCommandName } from './command-names.js';
import type { Terminal } from './terminal.js';

/** Creates every command except `run`, `batch`, `worker` and `publish`. They are loaded together: none has many options. */
export const OTHER_COMMANDS = {
  resume: resumeCommand,
  approve: approveCommand,
  policy: policyCommand,
  report: reportCommand,
  compare: compareCommand,
  test: testCommand,
  verify: verifyCommand,
  runs: runsCommand,
  tools: toolsCommand,
  doctor: doctorCommand,
  demo: demoCommand,
  completion: completionCommand,
  version: versionCommand,
  'github-action': gitHubActionCommand,
} as const satisfies Readonly<Record<OtherCommandName, (terminal: Terminal, packageRoot: URL) => Command>>;
