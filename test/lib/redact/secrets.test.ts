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

describe('one line of a secret is worth as much as all of it', () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const account = JSON.stringify(
    {
      type: 'service_account',
      project_id: 'my-project-391204',
      private_key_id: '0f9e8d7c6b5a49382716f5e4d3c2b1a098765432',
      private_key: privateKey,
      client_email: 'robot@my-project-391204.iam.gserviceaccount.com',
      client_id: '104857600123456789012',
      client_secret: 'GOCSPX-x7Kq29Lm0f9e8d7c',
      token_uri: 'https://oauth2.googleapis.com/token',
      client_x509_cert_url: 'https://www.googleapis.com/robot/v1/metadata/x509/robot%40my-project',
    },
    null,
    2,
  );
  const encoded = Buffer.from(account).toString('base64');
  const settings =
    'USER=deploy\nexport DB_PASSWORD="correct-horse-battery"\nAPI_TOKEN=abcDEF123456ghi\nHOST=db.example.org';
  const netrc = 'machine github.com\n  login deploy\n  password hunter2-secret-word';
  const kube =
    'apiVersion: v1\nkind: Config\nusers:\n- name: ci\n  user:\n    token: x7Kq29Lm.0f9e8d7c-abc\n    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURQ==';
  const phrase = 'legal winner thank year\nwave sausage worth useful\nlegal winner thank yellow';
  const mixed = 'Qz7!kW9x$L2#mP4v\nsecond-line&also=secret*1';
  const accountLine = (field: string) =>
    account.split('\n').find((line) => line.includes(`"${field}"`)) ?? '';

  const hidden: [string, string, string, string][] = [
    ['a line of a key', privateKey, privateKey.split('\n')[7] ?? '', ''],
    ['a line of a key in a service account', account, privateKey.split('\n')[7] ?? '', ''],
    ['the id of a key', account, accountLine('private_key_id'), '0f9e8d7c'],
    ['a field that is secret', account, accountLine('client_secret'), 'GOCSPX'],
    ['the field with the key', account, accountLine('private_key'), privateKey.split('\n')[7] ?? ''],
    ['the same of base64 of the file', encoded, accountLine('private_key_id'), '0f9e8d7c'],
    ['a line of base64 of the file', encoded, privateKey.split('\n')[7] ?? '', ''],
    ['a setting', settings, 'DB_PASSWORD: correct-horse-battery', 'horse'],
    ['a second setting', settings, 'got abcDEF123456ghi', 'abcDEF'],
    ['a password without a sign before it', netrc, 'password hunter2-secret-word', 'hunter2'],
    ['a token in a list of users', kube, 'token: x7Kq29Lm.0f9e8d7c-abc', 'x7Kq29Lm'],
    ['a key in a list of users', kube, 'LS0tLS1CRUdJTiBSU0EgUFJJVkFURQ==', 'LS0tLS1CRU'],
    ['a part of a phrase', phrase, 'wave sausage worth useful', 'sausage'],
    ['a line of signs', mixed, 'second-line&also=secret*1', 'also'],
    ['an item of a list', '["abcDEF123456ghi","zzzYYY987654xxx"]', 'zzzYYY987654xxx', ''],
    ['a field without a telling name', '{"db":"abcDEF123456ghijk"}', 'abcDEF123456ghijk', ''],
  ];
  test.each(hidden)('%s', (_what, value, shown, secret) => {
    const text = redacting({ DEPLOY_SECRET: value });
    const clean = text(`1: ${shown}`);
    expect(clean).toContain('[redacted:DEPLOY_SECRET]');
    expect(clean).not.toContain(secret || shown);
  });

  const plain: [string, string, string][] = [
    ['the frame of a key', privateKey, '-----BEGIN PUBLIC KEY-----'],
    ['the kind of a file', account, '  "type": "service_account",'],
    ['the name of a project', account, accountLine('project_id')],
    ['an address', account, accountLine('token_uri')],
    ['an address with escapes', account, accountLine('client_x509_cert_url')],
    ['a number', account, accountLine('client_id')],
    ['an e-mail address', account, accountLine('client_email')],
    ['a user', settings, 'USER=deploy'],
    ['a host', settings, 'HOST=db.example.org'],
    ['a machine', netrc, 'machine github.com'],
    ['a version', kube, 'apiVersion: v1\nkind: Config'],
    ['a name with a number in it', '{"service":"MyProject2Production"}', 'MyProject2Production'],
    [
      'prose among settings',
      `${settings}\n# Licensed under the Apache License, Version 2.0`,
      '# Licensed under the Apache License, Version 2.0',
    ],
  ];
  test.each(plain)('but not %s', (_what, value, shown) => {
    expect(redacting({ DEPLOY_SECRET: value })(`1: ${shown}`)).toBe(`1: ${shown}`);
  });

  test('JSON that is nested without end is no table', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(redacting({ DEPLOY_SECRET: deep })('plain')).toBe('plain');
  });
});
