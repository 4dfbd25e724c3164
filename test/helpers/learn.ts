import { learn, type LearnRequest } from '../../src/decisions/learn-request.js';
import { tellRun, type ToldCall, type ToldRun } from './evidence.js';
import type { Workspace } from './workspace.js';

/** Learns from runs in a workspace, under the preset yolo unless told. */
export function learnIn(
  ws: Workspace,
  runs: readonly (readonly ToldCall[] | Partial<ToldRun>)[],
  {
    ceiling = 'yolo',
    ...more
  }: Omit<Partial<LearnRequest>, 'ceiling'> & { ceiling?: string | string[] } = {},
) {
  const transcripts = runs.map((run) => {
    const told = (Array.isArray(run) ? { calls: run } : run) as Partial<ToldRun>;
    return tellRun(ws.outside('.'), { cwd: ws.path(), changes: [], calls: [], ...told });
  });
  return learn({
    transcripts,
    ceiling: [ceiling].flat(),
    minRuns: 1,
    folder: ws.outside('.'),
    file: ws.outside('learnt.yaml'),
    fallback: ws.path(),
    home: '/home/nobody',
    searchPath: process.env['PATH'],
    variables: {},
    ...more,
  });
}

export const times = <T>(n: number, one: T): T[] => Array.from({ length: n }, () => one);
