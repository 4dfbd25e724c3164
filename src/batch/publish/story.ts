import type { Transcript } from '../../protocol/transcript.js';
import { configProblem } from '../../protocol/problem.js';
import type { Story } from './publication.js';

/** What the transcript of a run that has ended tells about its patch. */
export function storyOf({ path, lines, end, result }: Transcript): Story {
  const init = lines.findLast((line) => line.type === 'init');
  const last = lines.at(-1);
  if (!init || !result || !last) throw configProblem('transcript', `${path} has no beginning or no result`);
  const first = lines.find((line) => line.type === 'message' && line.role === 'user');
  // Later checks of a command replace earlier ones.
  const checks = new Map<string, boolean>();
  for (const line of lines)
    if (line.type === 'verification' && line.condition === 'verify' && line.command !== undefined)
      checks.set(line.command, line.ok);
  return {
    prompt: first?.type === 'message' ? first.content : '',
    verified: [...checks].flatMap(([command, ok]) => (ok ? [command] : [])),
    costUsd: result.stats.cost_usd,
    transcript: end.hash,
    endedAt: new Date(last.timestamp),
    changes: (result.changes ?? []).map((change) => change.path),
    init,
    isRedacted: result.patch?.redacted === true,
  };
}
