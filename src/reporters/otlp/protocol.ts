/** What is sent: OTLP 1.x in its JSON encoding. Times are nanoseconds as text, ids are hexadecimal. */
export type AttributeValue = string | number | boolean | readonly string[] | undefined;
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface SpanEvent {
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly attributes: Attributes;
}

export interface Span {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** Whether it is a request to somebody else. */
  readonly isClient: boolean;
  /** In milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  readonly events?: readonly SpanEvent[];
  /** Why it failed, if it did. */
  readonly error?: string;
}

const INTERNAL = 1;
const CLIENT = 3;
const FAILED = { code: 2 };

export function spanJson(
  span: Span,
  trace: { readonly traceId: string; readonly traceState?: string },
): object {
  const { spanId, parentSpanId, name, isClient, start, end, attributes, events = [], error } = span;
  return {
    ...trace,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: isClient ? CLIENT : INTERNAL,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(end),
    attributes: attributesJson(attributes),
    events: events.map((event) => ({
      timeUnixNano: nanoseconds(event.at),
      name: event.name,
      attributes: attributesJson(event.attributes),
    })),
    status: error === undefined ? {} : { ...FAILED, message: error },
  };
}

export function nanoseconds(milliseconds: number): string {
  return `${BigInt(Math.round(milliseconds * 1000)) * 1000n}`;
}

export function attributesJson(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : { key, value: valueJson(value) },
  );
}

function valueJson(value: Exclude<AttributeValue, undefined>): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { arrayValue: { values: value.map(valueJson) } };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
