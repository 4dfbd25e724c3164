import type { Difference, Judged } from './compare.js';
import type { ReplaySummary } from './summary.js';

/** A replay for programs: every difference, and every call that was not judged. */
export function replayJson(summary: ReplaySummary): object {
  const { transcripts, calls, same, stricter, looser, refused, notJudged, groups, exitCode } = summary;
  return {
    transcripts,
    calls,
    same,
    stricter,
    looser,
    refused,
    not_judged: notJudged.length,
    exit_code: exitCode,
    groups: groups.map(({ change, before, after, differences }) => ({
      change,
      before: side(before),
      after: side(after),
      calls: differences.length,
      refused: differences.filter((one) => one.refused).length,
    })),
    differences: groups.flatMap(({ differences }) => differences.map(differenceJson)),
    unjudged: notJudged.map(({ call, transcript, notJudged: why }) => ({
      transcript,
      tool_id: call.id,
      tool: call.tool,
      why,
    })),
  };
}

function differenceJson({ change, refused, before, after, call, transcript }: Difference): object {
  return {
    change,
    refused,
    transcript,
    tool_id: call.id,
    tool: call.tool,
    args: call.args,
    succeeded: call.succeeded,
    before: side(before),
    after: side(after),
  };
}

function side({ decision, rule, reason }: Judged): object {
  return { decision, rule, reason };
}
