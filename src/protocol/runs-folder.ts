import { join } from 'node:path';

/** Where runs keep their transcripts unless told otherwise. */
export function runsFolder(workspace: string): string {
  return join(workspace, '.bosun', 'runs');
}
