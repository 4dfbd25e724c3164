/** Whether a value of unknown origin is an object with fields, as JSON has them. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of such a value; none of any other. */
export function recordOrEmpty(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

export function stringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
