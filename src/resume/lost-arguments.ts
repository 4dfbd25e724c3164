import { canonicalJson } from '../lib/canonical-json.js';
import { callsOf } from '../protocol/content.js';
import type { TranscriptLine } from '../protocol/event.js';

export type LostArguments = (call: NamedCall) => boolean;

type NamedCall = { readonly name: string; readonly args?: unknown };

/**
 * Recognizes calls whose original arguments are lost: they contained a secret when they were recorded. The recorded
 * ones may not be taken for what the model meant.
 */
export function lostArguments(lines: readonly TranscriptLine[]): LostArguments {
  const lost = new Set<string>();
  for (const line of lines) {
    if (line.type !== 'turn' || !line.redacted) continue;
    for (const call of callsOf(line.content)) if (isMarked(call)) lost.add(callKey(call));
  }
  return (call) => lost.size > 0 && lost.has(callKey(call));
}

function isMarked({ args = {} }: NamedCall): boolean {
  return JSON.stringify(args).includes('[redacted:');
}

function callKey({ name, args = {} }: NamedCall): string {
  return canonicalJson([name, args]);
}
