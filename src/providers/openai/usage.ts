import type { Usage } from '../../protocol/usage.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Tokens as the neutral usage counts them: `prompt` includes cached tokens, `output` does not include thoughts.
 * OpenAI counts thoughts as part of the completion; a few servers count them separately, and their total shows it.
 */
export function openaiUsage(said: Fields): Usage | undefined {
  const prompt = countIn(said, 'prompt_tokens');
  const completion = countIn(said, 'completion_tokens');
  const thoughts = countIn(said['completion_tokens_details'], 'reasoning_tokens');
  const cached =
    countIn(said['prompt_tokens_details'], 'cached_tokens') ??
    countIn(said, 'prompt_cache_hit_tokens') ??
    countIn(said, 'cached_tokens');
  const reportedTotal = countIn(said, 'total_tokens');
  const total =
    reportedTotal ?? (prompt === undefined || completion === undefined ? undefined : prompt + completion);
  const beside = thoughts && total === (prompt ?? 0) + (completion ?? 0) + thoughts;
  const output = beside ? completion : without(completion, thoughts);
  const usage = { prompt, cached, output, thoughts, total };
  const known = Object.entries(usage).filter(([, value]) => value !== undefined);
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}

function without(completion: number | undefined, thoughts = 0): number | undefined {
  return completion === undefined ? undefined : Math.max(0, completion - thoughts);
}

function countIn(fields: unknown, name: string): number | undefined {
  const value = (fields as Fields | null | undefined)?.[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
