const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Timers set to more than this fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Milliseconds of `90s`, `1.5m`, `500ms`, `2h`; undefined for anything else, including a bare number. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim());
  if (!match) return undefined;
  return Math.round(Number(match[1]) * (UNITS[match[2] as string] as number));
}

/** `850 ms`, `12.3 s`, `4m 05s`. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`;
}
