import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorMessage } from '../lib/errors.js';
import { configProblem } from '../protocol/problem.js';

export interface Demo {
  /** A fresh copy of a small project with a bug. */
  readonly workspace: string;
  /** What a model once did about it. */
  readonly recording: string;
}

/** Sets the stage for `bosun demo`. `packageRoot` is where Bosun is installed. */
export function prepareDemo(packageRoot: URL): Demo {
  const fixture = fileURLToPath(new URL('fixtures/demo/', packageRoot));
  try {
    const workspace = mkdtempSync(join(tmpdir(), 'bosun-demo-'));
    cpSync(join(fixture, 'project'), workspace, { recursive: true });
    return { workspace, recording: join(fixture, 'recording.jsonl') };
  } catch (error) {
    throw configProblem('demo', `the demo cannot be set up: ${errorMessage(error)}`, {
      hint: 'TMPDIR names the folder for temporary files.',
      cause: error,
    });
  }
}
