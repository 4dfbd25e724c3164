/**
 * Names that look like secrets and are often part of a repository: certificates of a test suite, sample settings. If
 * they are tracked they are not secret: everyone with the repository has them.
 */
export function mayBeFixture(path: string): boolean {
  return /\.(pem|key|p12|pfx|jks|keystore)$|(^|\/)\.env[^/]*\.(example|sample|template|dist|defaults?)$/i.test(
    path,
  );
}
