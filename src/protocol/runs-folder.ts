import { join } from 'node:path';

/** Where runs keep their transcripts by default. */
export function runsFolder(workspace: string): string {
  return join(workspace, '.bosun', 'runs');
}
