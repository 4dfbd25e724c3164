import { pathToFileURL } from 'node:url';
import { prepareBatchDemo } from './demo-stage.js';
import type { FlagsOf } from './flags/table.js';
import { startBatch } from './perform-batch.js';
import type { Terminal } from './terminal.js';

/** `bosun demo --batch`: a recorded batch; its page is kept. */
export async function performBatchDemo(
  { color, progress }: Pick<FlagsOf<'demo'>, 'color' | 'progress'>,
  terminal: Terminal,
  packageRoot: URL,
): Promise<number> {
  const { workspace, file, recordings, out, page } = prepareBatchDemo(packageRoot);
  const flags = {
    color,
    ...(progress && { progress }),
    logFormat: 'pretty',
    outputFormat: 'text',
    reporter: [`html=${page}`],
  } as const;
  const request = {
    flags: { folder: workspace, file, policies: [] },
    ...{ workspace, out, recordings },
    variables: terminal.variables,
    attachments: [],
    readStdin: async () => Buffer.alloc(0),
    command: 'bosun demo --batch',
  };
  const code = await startBatch(flags, async () => request, terminal);
  terminal.stderr(
    `\nThe costs of the tasks are those of the recording: no request was sent.\n` +
      `The page of this batch: ${pathToFileURL(page).href}\nIts journal and transcripts: ${out}\n`,
  );
  return code;
}
