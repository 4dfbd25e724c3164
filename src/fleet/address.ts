import { parseUrl } from '../lib/parse-url.js';
import { configProblem } from '../protocol/problem.js';

/** Where a queue is. */
export interface QueueAddress {
  readonly kind: 'redis' | 'postgres';
  readonly url: string;
  /** Without the password: only this form is ever shown. */
  readonly shown: string;
}

const KINDS: Readonly<Record<string, QueueAddress['kind']>> = {
  'redis:': 'redis',
  'rediss:': 'redis',
  'valkey:': 'redis',
  'valkeys:': 'redis',
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
};

const HIDDEN = '***';

/** Parses the value of `--queue`. */
export function queueAddress(text: string): QueueAddress {
  const url = parseUrl(text);
  const kind = url && KINDS[url.protocol];
  if (!url || !kind)
    throw configProblem(
      'queue',
      `--queue ${url ? `${url.protocol}//… ` : ''}is not the URL of a queue server`,
      {
        hint: 'Give redis://HOST:PORT, rediss://…, or postgres://HOST/DATABASE. Put a URL with a password in BOSUN_QUEUE, where process lists do not show it.',
      },
    );
  return { kind, url: url.href.replace(/^valkey/, 'redis'), shown: shownUrl(url) };
}

function shownUrl(url: URL): string {
  const shown = new URL(url);
  if (shown.password) shown.password = HIDDEN;
  for (const name of shown.searchParams.keys())
    if (/pass|secret|token|key/i.test(name)) shown.searchParams.set(name, HIDDEN);
  return decodeURI(shown.href);
}

/** Removes the password of an address from a text. */
export function withoutPassword(text: string, { url, shown }: QueueAddress): string {
  const { password } = new URL(url);
  const words = [url, password, decodeURIComponent(password)].filter((word) => word.length > 2);
  return words.reduce((said, word) => said.replaceAll(word, word === url ? shown : HIDDEN), text);
}
