import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificates {
  /** The file with the authority's certificate, to be trusted. */
  readonly authority: string;
  readonly key: Buffer;
  readonly cert: Buffer;
  close(): void;
}

/** An authority made for one test, and a server certificate of it. */
export function makeCertificates(name = 'localhost'): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'bosun-tls-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-days',
    '2',
    '-subj',
    '/CN=Bosun test authority',
  );
  openssl('req', ...newKey, '-keyout', at('key.pem'), '-out', at('request.pem'), '-subj', `/CN=${name}`);
  writeFileSync(at('names.cnf'), `subjectAltName=DNS:${name}\n`);
  openssl(
    'x509',
    '-req',
    '-in',
    at('request.pem'),
    '-CA',
    at('ca.pem'),
    '-CAkey',
    at('ca.key'),
    '-CAcreateserial',
    '-out',
    at('cert.pem'),
    '-days',
    '2',
    '-extfile',
    at('names.cnf'),
  );
  return {
    authority: at('ca.pem'),
    key: readFileSync(at('key.pem')),
    cert: readFileSync(at('cert.pem')),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
