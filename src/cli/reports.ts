import { DOCUMENT_NAMES, type DocumentName } from '../reporters/registry.js';
import type { Report, ReportsOptions } from '../reporters/open-reports.js';
import { isOtherCommandName } from './command-names.js';
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
export async function openRunReports(
  { reporter = [], outputFormat, transcript }: RunTargets,
  terminal: Terminal,
  warn: (message: string) => void,
): Promise<Report[]> {
  if (reporter.length === 0) return [];
  return openTargets([...new Set(reporter)], terminal, {
    needsFile: true,
    outputFormat,
    taken: transcript,
    fresh: true,
    warn,
  });
}

interface TargetOptions extends Omit<ReportsOptions, 'targets' | 'command' | 'stepSummary' | 'variables'> {
  readonly needsFile: boolean;
  readonly outputFormat: string;
}

/** Opens reports by the values of `--reporter`. Their code is loaded only now. */
export async function openTargets(
  texts: readonly string[],
  terminal: Terminal,
  { needsFile, outputFormat, ...options }: TargetOptions,
): Promise<Report[]> {
  const [{ openReports }, { readTarget }] = await Promise.all([
    import('../reporters/open-reports.js'),
    import('../reporters/targets.js'),
  ]);
  const targets = texts.map((text) => readTarget(text, { needsFile }));
  // Only the reporter for GitHub needs a runner.
  const isForRunner = targets.some(({ name }) => name === 'github');
  return openReports({
    ...options,
    targets,
    command: isForRunner ? terminal.command(outputFormat) : () => {},
    stepSummary: terminal.variables['GITHUB_STEP_SUMMARY'],
    variables: terminal.variables,
  });
}

/** Waits for reports that are on their way. */
export async function allArrived(reports: readonly Report[]): Promise<void> {
  await Promise.all(reports.map((report) => report.arrived?.()));
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
  const { bareResult } = await import('../runs/bare-result.js');
  for (const text of new Set(asked)) {
    try {
      const [report] = await openRunReports({ reporter: [text], outputFormat }, terminal, () => {});
      report?.event(bareResult(error, terminal.redactor));
    } catch {
      // This may be the very report that cannot be written.
    }
  }
}

function askedFor(argv: readonly string[], variable: string): string[] {
  const args = argv.slice(2);
  // The other commands run nothing, whatever their flags.
  const [first = ''] = args;
  if ((isOtherCommandName(first) && first !== 'resume') || first === 'publish') return [];
  const typed = args.flatMap((arg, i) => {
    if (arg === '--reporter') return args[i + 1] ?? [];
    return arg.startsWith('--reporter=') ? arg.slice('--reporter='.length) : [];
  });
  return typed.length > 0 ? typed : variable.split('\n').filter((line) => line.trim() !== '');
}
