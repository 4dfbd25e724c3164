import { attempt } from '../../lib/attempt.js';
import { parseUrl } from '../../lib/parse-url.js';
import type { Variables } from '../../lib/redact/secrets.js';
import { configProblem } from '../../protocol/problem.js';
import type { Signal } from '../document.js';

/** Where a signal goes, as OpenTelemetry's variables say. */
export interface CollectorSettings {
  readonly urls: Readonly<Record<Signal, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const HEADERS = 'OTEL_EXPORTER_OTLP_HEADERS';
/** The process is gone within 5 s of the result, whatever the collector does. */
const MOST_MS = 4000;

export function collectorSettings(variables: Variables): CollectorSettings {
  const timeout = Number(variables['OTEL_EXPORTER_OTLP_TIMEOUT'] || MOST_MS);
  return {
    urls: { traces: urlOf('traces', variables), metrics: urlOf('metrics', variables) },
    headers: headersIn(variables),
    timeoutMs: timeout > 0 ? Math.min(timeout, MOST_MS) : MOST_MS,
  };
}

/** An address for one signal is used as it is; the common one gets the usual path. */
function urlOf(signal: Signal, variables: Variables): string {
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`;
  const name = variables[own]?.trim() ? own : ENDPOINT;
  const text = variables[name]?.trim();
  if (!text)
    throw configProblem('reporter', `--reporter otlp needs ${ENDPOINT}`, {
      hint: 'Set it to the address of a collector, such as http://localhost:4318.',
    });
  const url = parseUrl(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw configProblem('reporter', `${name} is not an http or https address: ${text}`);
  if (url.username !== '' || url.password !== '')
    throw configProblem('reporter', `${name} holds a user or a password, which cannot be sent`, {
      hint: `Send them by ${HEADERS}.`,
    });
  return name === own ? text : `${text.replace(/\/+$/, '')}/v1/${signal}`;
}

/** Checked before the run: the error of a request would repeat the value, which is often a key. */
function headersIn(variables: Variables): Record<string, string> {
  const headers = pairsIn(variables, HEADERS);
  for (const [key, value] of Object.entries(headers)) {
    if (/^[!#$%&'*+.^_`|~\w-]+$/.test(key) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue;
    throw configProblem('reporter', `${HEADERS}: ${JSON.stringify(key)} cannot be sent as a header`);
  }
  return headers;
}

/** The user's own description of where this runs. `OTEL_SERVICE_NAME` wins, as everywhere. */
export function resourceAttributes(variables: Variables): Record<string, string> {
  const name = variables['OTEL_SERVICE_NAME']?.trim();
  return { ...pairsIn(variables, 'OTEL_RESOURCE_ATTRIBUTES'), ...(name && { 'service.name': name }) };
}

/** `key=value,key=value`, percent-encoded. What is no pair is left out. */
function pairsIn(variables: Variables, name: string): Record<string, string> {
  const pairs = (variables[name] ?? '').split(',').flatMap((pair) => {
    const [, key = '', value = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    return key === '' ? [] : [[key, attempt(() => decodeURIComponent(value)) ?? value] as const];
  });
  return Object.fromEntries(pairs);
}
