import type { RequestEnd, RequestTarget } from '../../protocol/admission.js';
import type { RateSpec } from '../spec.js';
import { Adaptive } from './adaptive.js';
import { Pace, TokenWindow } from './declared.js';
import { Lane } from './lane.js';
import type { GateNews, Regime } from './regime.js';

/** Permission to send one request; called with how it ended. */
export type Pass = (end: RequestEnd) => void;

export interface GateSettings {
  readonly rate: RateSpec;
  /** The most requests that can be in flight at all. */
  readonly most: number;
  /** How long everything may be rejected before giving up. */
  readonly retryTimeMs: number;
  readonly onNews: (model: string, news: GateNews) => void;
  /** Nothing was accepted for too long. */
  readonly onExhausted: (model: string, resetMs: number | undefined) => void;
}

/** `gemini-2.5-pro`, `openai/qwen`, `gemini-2.5-pro (flex)`: each has its own quota. */
export function laneName({ provider, model, tier }: RequestTarget): string {
  const name = provider === 'gemini' ? model : `${provider}/${model}`;
  return tier === 'standard' ? name : `${name} (${tier})`;
}

/** Where the requests of all tasks wait, with a lane for each model and tier. */
export class Gate {
  readonly #settings: GateSettings;
  readonly #lanes = new Map<string, Lane>();
  requests = 0;
  rejected = 0;
  #isClosed = false;

  constructor(settings: GateSettings) {
    this.#settings = settings;
  }

  /** Waits until a request may be sent; undefined once the gate is closed. Rejects if the signal fires first. */
  async enter(target: RequestTarget, hasBegun: boolean, signal: AbortSignal): Promise<Pass | undefined> {
    if (this.#isClosed) return undefined;
    const lane = this.#laneFor(target);
    if (!(await lane.enter(hasBegun, signal))) return undefined;
    this.requests++;
    return (end) => {
      if (end.failure?.class === 'quota') this.rejected++;
      lane.leave(end);
    };
  }

  /** Nothing more is sent. */
  close(): void {
    this.#isClosed = true;
    for (const lane of this.#lanes.values()) lane.close();
  }

  #laneFor(target: RequestTarget): Lane {
    const name = laneName(target);
    const known = this.#lanes.get(name);
    if (known) return known;
    const { retryTimeMs, onNews, onExhausted } = this.#settings;
    const lane = new Lane(this.#regimes(), {
      retryTimeMs,
      onNews: (news) => onNews(name, news),
      // A task with another model or tier falls back to it.
      onExhausted: (resetMs) => target.hasFallback || onExhausted(name, resetMs),
    });
    this.#lanes.set(name, lane);
    return lane;
  }

  #regimes(): Regime[] {
    const { rate, most } = this.#settings;
    const { requestsPerMinute, tokensPerMinute } = rate;
    return [
      requestsPerMinute === undefined ? new Adaptive(most) : new Pace(requestsPerMinute),
      ...(tokensPerMinute === undefined ? [] : [new TokenWindow(tokensPerMinute)]),
    ];
  }
}
