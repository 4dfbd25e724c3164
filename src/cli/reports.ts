import { DOCUMENT_NAMES, type DocumentName } from '../runs/names.js';
import type { Report, ReportTarget } from '../runs/reports.js';
import type { ReportFlags } from './flags/report.js';
import type { Terminal } from './terminal.js';

/** In the form of `--reporter`. */
export function targetsIn({
  reporter = [],
  ...short
}: Pick<ReportFlags, 'reporter' | DocumentName>): string[] {
  const shorthands = DOCUMENT_NAMES.flatMap((name) => {
    const value = short[name];
    if (value === undefined || value === false) return [];
    return value === true ? name : `${name}=${value}`;
  });
  return [...reporter, ...shorthands];
}

interface RunTargets {
  readonly reporter?: readonly string[];
  readonly outputFormat: string;
  readonly transcript?: string;
}

/** The reports of a run that is about to begin. Their code is loaded only if there are any. */
export async function reportsFor(
  { reporter = [], outputFormat, transcript }: RunTargets,
  terminal: Terminal,
  warn: (message: string) => void,
): Promise<Report[]> {
  if (reporter.length === 0) return [];
  const { openReports, readTarget } = await import('../runs/reports.js');
  const targets = [...new Set(reporter)].map((text) => readTarget(text, { needsFile: true }));
  return openReports({
    targets,
    taken: transcript,
    fresh: true,
    warn,
    ...runnerOf(targets, terminal, outputFormat),
  });
}

/** What only the reporter for GitHub needs. */
export function runnerOf(targets: readonly ReportTarget[], terminal: Terminal, format: string) {
  const isAsked = targets.some(({ name }) => name === 'github');
  return {
    command: isAsked ? terminal.command(format) : () => {},
    stepSummary: terminal.variables['GITHUB_STEP_SUMMARY'],
  };
}

/**
 * Reports of a run that did not even begin: the report says why. The arguments may be what is wrong, so they
 * are read with care.
 */
export async function reportProblem(
  argv: readonly string[],
  outputFormat: string,
  terminal: Terminal,
  error: unknown,
): Promise<void> {
  const asked = askedFor(argv, terminal.variables['BOSUN_REPORTER'] ?? '');
  if (asked.length === 0) return;
  const { bareResult } = await import('../runs/endings.js');
  for (const text of new Set(asked)) {
    try {
      const [report] = await reportsFor({ reporter: [text], outputFormat }, terminal, () => {});
      report?.event(bareResult(error, terminal.redactor));
    } catch {
      // This may be the very report that cannot be written.
    }
  }
}

/** Commands that run nothing, whatever their flags. */
const OTHERS = /^(approve|demo|policy|report|tools|verify)$/;

function askedFor(argv: readonly string[], variable: string): string[] {
  const args = argv.slice(2);
  if (OTHERS.test(args[0] ?? '')) return [];
  const typed = args.flatMap((arg, i) => {
    if (arg === '--reporter') return args[i + 1] ?? [];
    return arg.startsWith('--reporter=') ? arg.slice('--reporter='.length) : [];
  });
  return typed.length > 0 ? typed : variable.split('\n').filter((line) => line.trim() !== '');
}
