import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorMessage } from '../lib/errors.js';
import { configProblem } from '../protocol/problem.js';

export interface Demo {
  /** A fresh copy of a small project with a bug. */
  readonly workspace: string;
  /** What a model once did to fix it. */
  readonly recording: string;
}

/** Prepares `bosun demo`. `packageRoot` is where Bosun is installed. */
export function prepareDemo(packageRoot: URL): Demo {
  const fixture = fileURLToPath(new URL('fixtures/demo/', packageRoot));
  const workspace = copied(join(fixture, 'project'));
  return { workspace, recording: join(fixture, 'recording.jsonl') };
}

export interface BatchDemo {
  readonly workspace: string;
  /** The batch file. */
  readonly file: string;
  /** A recording for each of its tasks. */
  readonly recordings: string;
  /** Where the batch and its page may be written. */
  readonly out: string;
  readonly page: string;
}

/** Prepares `bosun demo --batch`. */
export function prepareBatchDemo(packageRoot: URL): BatchDemo {
  const fixture = fileURLToPath(new URL('fixtures/demo/batch/', packageRoot));
  const workspace = copied(join(fixture, 'project'));
  return {
    workspace,
    file: join(fixture, 'batch.yaml'),
    recordings: join(fixture, 'recordings'),
    out: join(workspace, '.bosun', 'batches', 'explain'),
    page: join(workspace, 'report.html'),
  };
}

function copied(project: string): string {
  try {
    const workspace = mkdtempSync(join(tmpdir(), 'bosun-demo-'));
    cpSync(project, workspace, { recursive: true });
    return workspace;
  } catch (error) {
    throw configProblem('demo', `the demo cannot be set up: ${errorMessage(error)}`, {
      hint: 'TMPDIR names the folder for temporary files.',
      cause: error,
    });
  }
}
