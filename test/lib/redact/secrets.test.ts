import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Redactor } from '../../../src/lib/redact/redactor.js';
import { secretsIn } from '../../../src/lib/redact/secrets.js';

const takes = (name: string, value: string, named = false) => {
  const redactor = new Redactor({ secrets: () => secretsIn({ [name]: value }, () => named) });
  return redactor.text(`<${value}>`) === `<[redacted:${name}]>`;
};

describe('a variable is secret by its name and its value', () => {
  test.each([
    ['GITHUB_TOKEN', 'x7Kq29Lm-plain'],
    ['API_TOKEN', 'my-secret-token-value'],
    ['CLIENT_SECRET', 'hunter2-secret-token'],
    ['MY_TOKEN', 'supersecretvalue'],
    ['DB_PASSWORD', 'Sommer2024'],
    ['DB_PASSWORD', '12345678'],
    ['STRIPE_KEY', 'x7Kq29Lm'],
    ['CLIENT_SECRET_V2', '0f9e8d7c6b5a'],
    ['PGPASSWORD', 'tr0ub4dor&3'],
    ['DB_PASSWORD', 'correct-horse-battery-staple'],
    ['MYSQL_PWD', 'Kq29Lm7x!'],
    ['AZURE_CREDENTIALS', 'x7Kq29Lm'],
    ['npm_config__auth', 'dXNlcjpwYXNz'],
    ['apiKey', 'x7Kq29Lm'],
    ['SENTRY_DSN', 'https://x7Kq29Lm0f9e8d7c@o1.ingest.example.io/2'],
    ['AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY'],
  ])('%s=%s', (name, value) => expect(takes(name, value)).toBe(true));

  test.each([
    ['PWD', '/home/x7Kq29Lm'],
    ['USER_NAME', 'x7Kq29Lm'],
    ['MONKEY', 'x7Kq29Lm'],
    ['KEYBOARD_LAYOUT', 'x7Kq29Lm'],
    ['SSH_PUBLIC_KEY', 'x7Kq29Lm'],
    ['FEATURE_TOKEN', 'true'],
    ['A_TOKEN', 'x7Kq29L'],
    ['ACCESS.TOKENIZER', 'x7Kq29Lm'],
    ['api-tokenizer', 'x7Kq29Lm'],
    ['CACHE_KEY', 'production'],
    ['CACHE_KEY', 'Linux-node-modules'],
    ['SECRET_NAME', 'my-project-database'],
    ['TOKEN_URL', 'https://auth.example.org/oauth/token'],
    ['SSH_AUTH_SOCK', '/tmp/ssh-agent/agent.1234'],
    ['GOOGLE_APPLICATION_CREDENTIALS', '/home/runner/work/key.json'],
    ['TOKEN_EXPIRES_KEY', '1763300000000'],
    ['DB_PASSWORD', 'sunshine'],
  ])('not %s=%s', (name, value) => expect(takes(name, value)).toBe(false));

  test('whatever is named outright, if it is long enough', () => {
    expect(takes('ANYTHING', 'production', true)).toBe(true);
    expect(takes('ANYTHING', 'product', true)).toBe(false);
  });
});

function redacting(variables: Record<string, string>) {
  return new Redactor({ secrets: () => secretsIn(variables, () => false) }).text;
}

test('passwords in addresses and connection strings are found under any name', () => {
  const text = redacting({
    DATABASE_URL: 'postgres://app:s3cr%2Fetpass@db.internal:5432/app',
    STORE: 'Server=db;User Id=sa;Password=hunter2hunter2;Encrypt=yes',
  });
  expect(text('s3cr%2Fetpass s3cr/etpass')).toBe('[redacted:DATABASE_URL] [redacted:DATABASE_URL]');
  expect(text('pw: hunter2hunter2')).toBe('pw: [redacted:STORE]');
  expect(text('db.internal:5432/app')).toBe('db.internal:5432/app');
});

test('a service account is secret as a whole, by its key, and by each line of that', () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const account = { type: 'service_account', project_id: 'my-project', private_key: privateKey };
  const json = JSON.stringify(account, null, 2);
  const text = redacting({ DEPLOY: json });
  expect(text(`<${json}>`)).toBe('<[redacted:DEPLOY]>');
  const lines = privateKey.split('\n').slice(1, -2);
  for (const line of lines.slice(0, -1)) expect(text(`+ ${line}`)).toBe('+ [redacted:DEPLOY]');
  const encoded = text(Buffer.from(`x${json}`).toString('base64'));
  expect(encoded.length).toBeLessThan(50);
  expect(text('service_account my-project')).toBe('service_account my-project');
});

test('a key in a variable of any name is found', () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${'QUJDREVGR0hJ1234'.repeat(4)}\n-----END PRIVATE KEY-----`;
  const text = redacting({ SIGNER: key });
  expect(text(JSON.stringify({ key }))).toBe('{"key":"[redacted:SIGNER]"}');
  expect(text(Buffer.from(key).toString('hex'))).toBe('[redacted:SIGNER]');
});
