import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { FolderPaths, leaseFolder } from '../batch/folder.js';
import { lineCounts } from '../batch/publish/body.js';
import { batchPublication } from '../batch/publish/from-batch.js';
import { runPublication } from '../batch/publish/from-run.js';
import { isAddressOf, placesIn, repositoryName } from '../batch/publish/github/places.js';
import { summaryOf, wordOf, type PublishedTask, type PublishResult } from '../batch/publish/outcome.js';
import type { Publication } from '../batch/publish/publication.js';
import { publishPatches } from '../batch/publish/publish.js';
import { resolveWorkspace } from '../decisions/workspace.js';
import { toJsonLine } from '../lib/jsonl.js';
import { oneLine, revealedLine } from '../lib/text.js';
import { configProblem, Problem } from '../protocol/problem.js';
import type { PublishFlags } from './flags/publish.js';
import { stopOnSignals } from './stop-on-signals.js';
import type { Terminal } from './terminal.js';

const WORD_WIDTH = 'would be published'.length;

/** `bosun batch publish`: the patches of a batch. Only one process works in its folder. */
export async function performBatchPublish(
  dir: string,
  flags: PublishFlags,
  terminal: Terminal,
): Promise<number> {
  const folder = resolve(terminal.cwd, dir);
  const { repository, places } = asked(flags, terminal);
  const isMeant = (url: string) => isAddressOf(repository, places.server, url);
  const read = () => batchPublication(folder, isMeant);
  const paths = new FolderPaths(folder);
  if (flags.dryRun || !existsSync(paths.record)) return publish(read, flags, terminal);
  const lease = await leaseFolder(paths, basename(folder));
  try {
    return await publish(read, flags, terminal);
  } finally {
    lease.release();
  }
}

/** `bosun publish`: the patch of a run. */
export function performPublish(path: string, flags: PublishFlags, terminal: Terminal): Promise<number> {
  return publish(() => runPublication(resolve(terminal.cwd, path)), flags, terminal);
}

function asked({ repo }: PublishFlags, { variables }: Terminal) {
  if (repo === undefined)
    throw configProblem('repo', 'nothing says which repository to publish to', {
      hint: 'Give --repo OWNER/NAME.',
    });
  return { repository: repositoryName(repo), places: placesIn(variables) };
}

async function publish(
  read: () => Promise<Publication>,
  flags: PublishFlags,
  terminal: Terminal,
): Promise<number> {
  const { variables } = terminal;
  const { base, group, draft = false, dryRun = false, maxOpen, perHour, maxPatch, author } = flags;
  const isText = flags.outputFormat === 'text';
  const { signal } = stopOnSignals();
  const result = await publishPatches({
    ...asked(flags, terminal),
    publication: await read(),
    token: tokenIn(variables, dryRun),
    workspace: resolveWorkspace(resolve(terminal.cwd, flags.cwd ?? '.')),
    grouping: group ?? 'none',
    ...{ base, draft, dryRun, maxOpen, perHour, maxPatch, author, variables, signal },
    onTask: (task) => {
      if (isText) terminal.show(taskLines(task).join(''));
    },
  });
  if (isText) terminal.show(`${endLine(result)}\n`);
  else terminal.stdout(`${toJsonLine(result)}\n`);
  if (result.exit_code !== 0) terminal.stderr(`bosun: error: ${oneLine(errorLine(result), 2000)}\n`);
  return result.exit_code;
}

/** Of a dry run the token is optional. */
function tokenIn(variables: Terminal['variables'], dryRun: boolean): string | undefined {
  const token = variables['GITHUB_TOKEN']?.trim();
  if (!token) {
    if (dryRun) return undefined;
    throw new Problem('auth', 'github_token', 'GITHUB_TOKEN is not set', {
      hint: 'Set it to a token with contents: write and pull-requests: write.',
    });
  }
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new Problem('auth', 'github_token', 'GITHUB_TOKEN has characters that no token has');
}

/** One task for people. In a dry run, also what its pull request would be. */
function taskLines({ id, status, url, branch, reason, title, files }: PublishedTask): string[] {
  const facts = [url ?? branch, reason]
    .filter((fact) => fact !== null)
    .map((fact) => revealedLine(fact, 400));
  const line = [wordOf(status).padEnd(WORD_WIDTH), revealedLine(id, 100), ...facts].join('  ');
  return [line, ...(title === undefined ? [] : planLines(title, files))].map((text) => `${text.trimEnd()}\n`);
}

function planLines(title: string, files: PublishedTask['files'] = []): string[] {
  // Titles have spaces without a width where GitHub would see something in them.
  const lines = [`title   ${revealedLine(title.replaceAll('\u200b', ''), 300)}`];
  lines.push(...files.map((file) => `file    ${revealedLine(file.path, 200)} ${lineCounts(file)}`));
  lines.push('checks  it applies; size, protected paths, links, submodules and secrets are all right');
  return lines.map((text) => `  ${text}`);
}

function endLine({ published, again_at: againAt, dry_run: dryRun }: PublishResult): string {
  const again = againAt === null ? '' : `; run it again after ${againAt.replace(/\.\d+/, '')}`;
  return `${dryRun ? 'dry run: nothing was changed; ' : ''}${summaryOf(published)}${again}`;
}

function errorLine(result: PublishResult): string {
  const { status, message } = result;
  return `${status}: ${status === 'limit' ? endLine(result) : message}`;
}
