// What belongs to which tier, and how much random tests do in each: `npm run test:unit`, `npm test`, `npm run test:soak`.

/**
 * Flags for processes of which there are more than processors. Each is better off without threads of its own that collect garbage,
 * and without optimising what is hot only for one suite: every suite loads its code again.
 */
export const LEAN = [
  '--single-threaded-gc',
  // Node 22 and newer count calls instead, and take three thousand of them as it is.
  ...(process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : []),
];

/**
 * Suites besides those of `test/e2e` and `test/attack` that start processes. All others are units, and are held to it.
 * @type {readonly string[]}
 */
export const STARTS_PROCESSES = [
  'test/batch/find-source.test.ts',
  'test/batch/integrate-merge.test.ts',
  'test/batch/integrate-write.test.ts',
  'test/batch/pool.test.ts',
  'test/batch/tasks.test.ts',
  'test/lib/binary-type.test.ts',
  'test/lib/environ.test.ts',
  'test/lib/files.test.ts',
  'test/lib/git-config.test.ts',
  'test/lib/git-index.test.ts',
  'test/lib/glob.test.ts',
  'test/lib/ignore-rules.test.ts',
  'test/lib/lease.test.ts',
  'test/lib/line-diff.test.ts',
  'test/lib/lock-file.test.ts',
  'test/lib/run-program.test.ts',
  'test/policy/corpus-for-real.test.ts',
  'test/policy/corpus.test.ts',
  'test/policy/hidden-find.test.ts',
  'test/policy/hidden-for-real.test.ts',
  'test/policy/hidden.test.ts',
  'test/policy/mutation.test.ts',
  'test/policy/print.test.ts',
  'test/policy/remedy.test.ts',
  'test/policy/shell-fuzz.test.ts',
  'test/policy/text-programs.test.ts',
  'test/sandbox/git-guard.test.ts',
  'test/sandbox/local-leftovers.test.ts',
  'test/sandbox/local-stopping.test.ts',
  'test/sandbox/local.test.ts',
  'test/sandbox/sandbox-network.test.ts',
  'test/sandbox/network-proxy-limits.test.ts',
  'test/sandbox/users-git.test.ts',
  'test/success/git-snapshots.test.ts',
  'test/tools/builtin/edited-meanwhile.test.ts',
  'test/tools/builtin/glob.test.ts',
  'test/tools/builtin/killed-while-writing.test.ts',
  'test/tools/builtin/list-directory.test.ts',
  'test/tools/builtin/permissions.test.ts',
  'test/tools/builtin/read-file.test.ts',
  'test/tools/builtin/run-shell-command.test.ts',
  'test/tools/builtin/save-memory.test.ts',
  'test/tools/builtin/search-file-content.test.ts',
  'test/tools/builtin/write-file.test.ts',
  'test/tools/files/tracked.test.ts',
  'test/tools/hostile-patterns.test.ts',
  'test/tools/many-files.test.ts',
  'test/tools/search/engines.test.ts',
  'test/tools/moved.test.ts',
  'test/tools/unattended.test.ts',
];

/**
 * What takes longest, longest first, so that no worker is left alone with one of them at the end. What mostly waits takes turns with
 * what mostly computes, so that the processors always have something to do. `BOSUN_TEST_COSTS=FILE npm test` notes what each suite
 * takes.
 * @type {readonly string[]}
 */
export const SLOWEST = [
  'test/e2e/queue-faults.test.ts',
  'test/policy/print.test.ts',
  'test/e2e/queue-workers.test.ts',
  'test/e2e/batch-integrate-again.test.ts',
  'test/e2e/queue-shared.test.ts',
  'test/e2e/batch-together.test.ts',
  'test/e2e/changes.test.ts',
  'test/e2e/pages.test.ts',
  'test/e2e/action.test.ts',
  'test/e2e/mcp-hostile.test.ts',
  'test/attack/repository.test.ts',
  'test/e2e/stopping.test.ts',
  'test/e2e/patch.test.ts',
  'test/e2e/sandbox.test.ts',
  'test/attack/secrets.test.ts',
  'test/e2e/queue-results.test.ts',
  'test/sandbox/git-guard.test.ts',
  'test/attack/processes.test.ts',
  'test/e2e/policy-gate.test.ts',
  'test/e2e/retries.test.ts',
  'test/e2e/recipes.test.ts',
  'test/e2e/discovery.test.ts',
  'test/e2e/library-callbacks.test.ts',
  'test/e2e/batch-rules.test.ts',
  'test/e2e/publish.test.ts',
  'test/e2e/publish-github.test.ts',
  'test/e2e/batch-screen.test.ts',
  'test/attack/untrusted.test.ts',
  'test/e2e/limits.test.ts',
  'test/attack/queue.test.ts',
  'test/e2e/learn-hostile-runs.test.ts',
  'test/decisions/learn-policy.test.ts',
  'test/e2e/learn-real-runs.test.ts',
  'test/e2e/mcp-hygiene.test.ts',
  'test/e2e/batch-odd-names.test.ts',
  'test/e2e/batch-resume.test.ts',
  'test/e2e/action-inputs.test.ts',
  'test/attack/servers.test.ts',
  'test/e2e/queue.test.ts',
  'test/e2e/success.test.ts',
  'test/tools/hostile-patterns.test.ts',
  'test/e2e/approver.test.ts',
  'test/e2e/loops.test.ts',
  'test/policy/learn-scripts.test.ts',
  'test/sandbox/local-stopping.test.ts',
  'test/e2e/shared-clone.test.ts',
  'test/e2e/action-batch.test.ts',
  'test/attack/network.test.ts',
  'test/e2e/compiled.test.ts',
  'test/e2e/resume.test.ts',
  'test/tools/files/tracked.test.ts',
  'test/policy/hidden-for-real.test.ts',
  'test/e2e/completion.test.ts',
  'test/e2e/queue-secure.test.ts',
  'test/e2e/batch-readonly.test.ts',
  'test/attack/links.test.ts',
  'test/tools/builtin/save-memory.test.ts',
  'test/policy/corpus.test.ts',
  'test/e2e/mcp-resources.test.ts',
  'test/e2e/recipes-batch.test.ts',
  'test/e2e/mcp-http.test.ts',
  'test/e2e/mcp.test.ts',
  'test/tools/search/engines.test.ts',
  'test/e2e/workspace-lease.test.ts',
  'test/success/git-snapshots.test.ts',
  'test/e2e/batch-integrate.test.ts',
];

/**
 * How much is tried in `npm test`, and in `npm run test:soak`, which runs the suites that ask for a number from here.
 * A variable of the same name sets another one.
 */
export const COUNTS = {
  /** Factor for rounds of small random tests. */
  ROUNDS: [0.1, 10],
  /** Of long tables whose rows start processes, one row in so many. */
  TABLE_EVERY: [4, 1],
  /** On how many kinds of servers a test of queues runs that tells little more on a second one. */
  QUEUE_KINDS: [1, 2],
  /** How a process may end while it does something that takes long to set up: of its own accord, killed, and otherwise. */
  ENDS: [2, 3],
  /** Factor for the size of what is made to keep us busy. */
  SIZES: [0.1, 1],
  /** The length of texts that are made to keep us busy. */
  HOSTILE_BYTES: [10_000, 1_000_000],
  /** Up to which length reports are read by a parser of Markdown, which takes its time. */
  PARSED_MARKDOWN: [30_000, 200_000],
  /** Turns of a run that is much longer than what its model can take. */
  LONG_RUN_TURNS: [150, 500],
  /** Files of a large workspace. */
  MANY_FILES: [4000, 20_000],
  /** How much each of 1,000 calls prints, of which a report is made. */
  REPORT_OUTPUT: [5000, 50_000],
  /** Tasks of a batch that is watched on a terminal. */
  WATCHED_TASKS: [100, 1000],
  /** Runs with a model and a network out of their minds. */
  CHAOS_RUNS: [36, 5000],
  /** Runs that are killed at random moments and resumed. */
  BOSUN_CRASH_RUNS: [1, 200],
  /** Batches that are killed at random moments, and the tasks of each. */
  BATCH_KILLS: [1, 100],
  BATCH_TASKS: [8, 40],
  /** Random changes of which patches are made. */
  PATCH_SEEDS: [1, 200],
  /** Command lines that are judged, and run by bash if allowed. */
  FUZZ_LINES: [150, 250_000],
  /** Of the harmless corpus, one line in so many is run: as it is written, and as it is printed. */
  PRINT_EVERY: [8, 1],
  /** Random scripts for the same. */
  PRINT_SCRIPTS: [240, 20_000],
  /** Of the corpora of command lines, one in so many is learnt from. */
  LEARN_EVERY: [16, 1],
  /** How often that is done. */
  LEARN_SEEDS: [1, 3],
  /** Lines that try to show hidden files. */
  HIDDEN_LINES: [60, 20_000],
  /** Random programs for sed and awk. */
  TEXT_PROGRAMS: [25, 5000],
};
