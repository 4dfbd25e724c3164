/** The `code` of a system error, or undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Nothing more can be written: this is not about the one file. */
export function isDiskFull(error: unknown): boolean {
  return errorCode(error) === 'ENOSPC' || errorCode(error) === 'EDQUOT';
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Why the system did not do something, for a message that already names the file: `no such file or directory`, not
 * `ENOENT: no such file or directory, open '…'`. Other errors keep their message.
 */
export function plainReason(error: unknown): string {
  const message = errorMessage(error);
  const code = errorCode(error);
  const isOfSystem = code !== undefined && message.startsWith(`${code}: `);
  return isOfSystem ? message.slice(code.length + 2).replace(/, \w+(?: '.*)?$/s, '') : message;
}

/** An error with a code, like those of the system. */
export function errorWithCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
