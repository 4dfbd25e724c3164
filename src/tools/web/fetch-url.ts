import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { parseUrl } from '../../lib/parse-url.js';
import { formatDuration } from '../../lib/duration.js';
import { errorMessage } from '../../lib/errors.js';
import { systemResolve } from '../../lib/addresses.js';
import { kindOfType } from './content-type.js';
import { httpGet } from './get.js';
import { FETCH_LIMITS, type WebSettings } from './settings.js';
import { unpack } from './unpack.js';

export type Fetched =
  | {
      readonly ok: true;
      /** Where the redirects led. */
      readonly url: URL;
      readonly status: number;
      readonly contentType: string;
      readonly body: Buffer;
    }
  | Failed;

export interface Failed {
  readonly ok: false;
  readonly fault: string;
  /** The text of an error page, with its type. */
  readonly excerpt?: { readonly contentType: string; readonly body: Buffer };
}

type FetchSettings = Omit<WebSettings, 'ground' | 'outputCap'>;

/** How much of an error page is read. */
const EXCERPT_BYTES = 64 * 1024;

/** Fetches one URL under the guard, including redirects. Never throws for errors of servers or the network. */
export async function fetchUrl(url: URL, settings: FetchSettings, signal: AbortSignal): Promise<Fetched> {
  const { timeMs } = settings.limits ?? FETCH_LIMITS;
  const time = AbortSignal.timeout(timeMs);
  try {
    return await followRedirects(url, settings, AbortSignal.any([signal, time]));
  } catch (error) {
    if (signal.aborted) return fetchFailure('cancelled');
    if (time.aborted) return fetchFailure(`no complete answer within ${formatDuration(timeMs)}`);
    return fetchFailure(connectionError(error));
  }
}

async function followRedirects(first: URL, settings: FetchSettings, signal: AbortSignal): Promise<Fetched> {
  const { network, userAgent, resolve = systemResolve, limits = FETCH_LIMITS } = settings;
  let url = first;
  for (let hops = 0; ; hops++) {
    const fault = network.fault(url);
    if (fault) return fetchFailure(hops === 0 ? fault : `it redirects to ${url.href}, and ${fault}`);
    const allowsPrivate = network.allowsPrivate(url);
    const answer = await httpGet(url, { resolve, allowsPrivate, userAgent, signal }, (response) =>
      readResponse(url, response, limits.bodyBytes),
    );
    if ('ok' in answer) return answer;
    if (hops === limits.redirects) return fetchFailure(`more than ${limits.redirects} redirects`);
    const next = parseUrl(answer.location, url);
    if (!next) return fetchFailure('it redirects to something that is not a URL');
    if (url.protocol === 'https:' && next.protocol === 'http:') {
      return fetchFailure(`it redirects from https to plain http (${next.href})`);
    }
    url = next;
  }
}

async function readResponse(
  url: URL,
  response: IncomingMessage,
  limit: number,
): Promise<Fetched | { readonly location: string }> {
  const { statusCode: status = 0, statusMessage = '', headers } = response;
  const contentType = headers['content-type'] ?? '';
  if (status >= 300 && status < 400 && headers.location !== undefined) {
    return { location: asUtf8(headers.location) };
  }
  if (status < 200 || status >= 300) {
    const body = await excerptOf(response);
    return {
      ...fetchFailure(`HTTP ${status} ${statusMessage}`.trim()),
      ...(body && { excerpt: { contentType, body } }),
    };
  }
  const fault = announcedFault(Number(headers['content-length']), contentType, limit);
  if (fault !== undefined) return fetchFailure(fault);
  const packed = await collectBody(response, limit);
  if (!packed) return fetchFailure(sizeFault(limit));
  const body = await unpack(packed, headers['content-encoding'] ?? '', limit);
  return 'fault' in body
    ? fetchFailure(body.fault)
    : { ok: true, url, status, contentType, body: body.bytes };
}

/** Why a body is unusable, according to its headers. */
function announcedFault(bytes: number, contentType: string, limit: number): string | undefined {
  if (bytes > limit) return sizeFault(limit);
  if (kindOfType(contentType) !== 'other') return undefined;
  const size = Number.isNaN(bytes) ? 'of unknown size' : `of ${bytes} bytes`;
  return `it is ${contentType} ${size}, which cannot be shown`;
}

/** Node reads headers as Latin-1; servers that put more into a Location mean UTF-8. */
function asUtf8(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : header;
}

/** The whole body, or undefined if it is too long. */
async function collectBody(response: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response) {
    bytes += (piece as Buffer).length;
    if (bytes > limit) return undefined;
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

async function excerptOf(response: IncomingMessage): Promise<Buffer | undefined> {
  const packed = await collectBody(response, EXCERPT_BYTES).catch(() => undefined);
  if (!packed) return undefined;
  const body = await unpack(packed, response.headers['content-encoding'] ?? '', EXCERPT_BYTES);
  return 'bytes' in body ? body.bytes : undefined;
}

function sizeFault(limit: number): string {
  return `it has more than ${limit / 1024 / 1024} MiB`;
}

function fetchFailure(fault: string): Failed {
  return { ok: false, fault };
}

/** Node hides the cause of a failed connection one level down. */
function connectionError(error: unknown): string {
  const { errors } = error as { readonly errors?: readonly unknown[] };
  return errorMessage(errors?.[0] ?? error);
}
