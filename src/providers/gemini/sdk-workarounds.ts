/**
 * Where Bosun does not use @google/genai as it is: what the SDK does, and which of our files does it instead. For
 * each row a test shows what breaks without it (`test/providers/sdk-workarounds.test.ts`,
 * `test/e2e/sdk-build.test.ts`): once the SDK has caught up, that test fails, and the workaround can go.
 */
export const SDK_WORKAROUNDS = {
  contents:
    'It drops fields of the conversation that it does not know, and writes all of it again every turn: it gets a placeholder (request.ts).',
  events:
    'It drops an event that begins with another field than data or with a comment: it gets data only (events.ts).',
  'finish-message': 'With an API key it drops why an answer ended: that is read beside it (response.ts).',
  'cut-streams': 'It takes a stream that breaks off between two events for a whole answer (client.ts).',
  'broken-errors':
    'It loses the status of an error whose body is not the JSON that it claims to be (fetch.ts).',
  tokens: 'It waits for an access token without a limit, and whatever is aborted (client.ts).',
  'models-only': 'Two thirds of it are for what we do not use, and take time to load (build/plugins.mjs).',
  'web-pieces':
    "Node's Headers and Response load Node's whole HTTP client: it gets our own (build/plugins.mjs, http/web.ts).",
  'late-imports': 'Bundled, its credentials do not find the agent for a proxy (build/plugins.mjs).',
} as const;

export type SdkWorkaround = keyof typeof SDK_WORKAROUNDS;

/** A bug of ours, not a failure of the provider: the SDK differs from the one this was written for. */
export class SdkMisfit extends Error {
  constructor(workaround: SdkWorkaround, what: string, options?: ErrorOptions) {
    super(`@google/genai no longer fits: ${what} (sdk-workarounds.ts: ${workaround})`, options);
  }
}

/** What was thrown, if it shows that the SDK no longer fits: it uses something that our pieces lack. */
export function misfitIn(error: unknown): SdkMisfit | undefined {
  if (error instanceof SdkMisfit) return error;
  const { name, message } = error as { name?: unknown; message?: unknown };
  const what = String(message);
  if (name !== 'TypeError' || !/ is not (a function|a constructor|iterable|async iterable)/.test(what))
    return undefined;
  return new SdkMisfit('web-pieces', `it failed by itself: ${what}`, { cause: error });
}
