import { describe, expect, test } from '@jest/globals';
import { Redactor } from '../../../src/lib/redact/redactor.js';
import { bound } from '../../helpers/bounds.js';
import { countOf } from '../../helpers/counts.js';

const { text, value } = new Redactor({ secrets: () => [] });
const many = (alphabet: string, length: number) => alphabet.repeat(length).slice(0, length);
const ALNUM = many('aB3dE6gH9jK2', 80);
const HEX = many('0a1b2c3d4e5f', 80);

describe('what looks like a secret is one', () => {
  test.each([
    ['github-token', `ghp_${ALNUM.slice(0, 36)}`],
    ['github-token', `github_pat_${ALNUM.slice(0, 22)}_${ALNUM.slice(0, 59)}`],
    ['gitlab-token', `glpat-${ALNUM.slice(0, 20)}`],
    ['aws-access-key-id', 'AKIAIOSFODNN7EXAMPLE'],
    ['google-api-key', `AIza${ALNUM.slice(0, 35)}`],
    ['google-token', `ya29.${ALNUM}`],
    ['openai-key', `sk-proj-${ALNUM}`],
    ['openai-key', `sk-${ALNUM.slice(0, 48)}`],
    ['anthropic-key', `sk-ant-api03-${ALNUM}`],
    ['slack-token', 'xoxb-123456789012-1234567890123-abcdefghij'],
    ['stripe-key', `sk_live_${ALNUM.slice(0, 24)}`],
    ['npm-token', `npm_${ALNUM.slice(0, 36)}`],
    ['pypi-token', `pypi-AgEIcHlwaS5vcmc${ALNUM}`],
    ['sendgrid-key', `SG.${ALNUM.slice(0, 22)}.${ALNUM.slice(0, 43)}`],
    ['digitalocean-token', `dop_v1_${HEX.slice(0, 64)}`],
    ['huggingface-token', `hf_aB${ALNUM.slice(0, 34)}`],
    ['jwt', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${ALNUM.slice(0, 43)}`],
  ])('%s', (name, token) => {
    expect(text(token)).toBe(`[redacted:${name}]`);
    expect(text(`export X="${token}";`)).toBe(`export X="[redacted:${name}]";`);
    expect(text(`not a ${token.slice(0, 8)} yet`)).toBe(`not a ${token.slice(0, 8)} yet`);
  });

  test.each([
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer [redacted:authorization]'],
    ['"authorization": "Basic dXNlcjpwYXNz"', '"authorization": "Basic [redacted:authorization]"'],
    ['-H "Authorization: token 0123456789abcdef"', '-H "Authorization: token [redacted:authorization]"'],
    ['x-api-key: 0123456789abcdef0', 'x-api-key: [redacted:api-key]'],
    ['GET /v1?key=0123456789abcdef0&x=1', 'GET /v1?key=[redacted:api-key]&x=1'],
    ['amqp://u:longenough@h', 'amqp://u:[redacted:url-password]@h'],
    [
      'https://x-access-token:p@ssw0rd1@github.com/a',
      'https://x-access-token:[redacted:url-password]@github.com/a',
    ],
    [
      '{"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}',
      '{"SecretAccessKey": "[redacted:aws-secret-key]"}',
    ],
    [
      '  "private_key_id": "0f9e8d7c6b5a49382716f5e4d3c2b1a098765432",',
      '  "private_key_id": "[redacted:private-key-id]",',
    ],
    ['"client_secret":"d-FL95Q19q7MQmFpd_hHD0Ty"', '"client_secret":"[redacted:client-secret]"'],
    ['refresh_token: 1//0gAbC_dEf-123456789', 'refresh_token: [redacted:client-secret]'],
    [
      '\\"access_token\\": \\"ab12.cd34-ef56_gh78~ij90\\"',
      '\\"access_token\\": \\"[redacted:client-secret]\\"',
    ],
  ])('%s', (before, after) => expect(text(before)).toBe(after));
});

test.each([
  'Use an Authorization: Bearer header, or Basic authentication.',
  'Authorization: Bearer $TOKEN',
  'client_secret: process.env.GOOGLE_CLIENT_SECRET_V2',
  'client_secret = config.oauth2.clients[0].client_secret',
  '"client_secret": "YOUR_CLIENT_SECRET_GOES_HERE_123"',
  'refresh_token = refresh_access_token(refresh_token, 3600)',
  '"private_key_id": "the id of the key"',
  'Authorization: Bearer ${{ secrets.GITHUB_TOKEN }}',
  'git clone https://git@github.com:22/org/repo and http://host:8080/a@b',
  'redis://:short@localhost:6379 and postgres://user:$PASSWORD@host/db',
  'data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=',
  'class="sk-spinner sk-loading-indicator-with-a-long-name"',
  'npm_config_registry npm_lifecycle_event npm_package_json',
  'key-value-store keyboard AKIAs AIzabc xai-api hf_hub_download',
  `sha256:${HEX.slice(0, 64)} ${HEX.slice(0, 40)}`,
  '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
  '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
  `someghp_${ALNUM.slice(0, 36)}`,
  'AKIAIOSFODNN7EXAMPLETOOLONG',
])('%j has no secret in it', (plain) => expect(text(plain)).toBe(plain));

describe('a private key', () => {
  const body = `${ALNUM.slice(0, 64)}\n${ALNUM.slice(0, 64)}\n${ALNUM.slice(0, 20)}==`;
  const pem = `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----`;
  test.each([
    ['as it is', `a\n${pem}\nb`, 'a\n[redacted:private-key]\nb'],
    ['in a string', JSON.stringify({ pem, b: 1 }), '{"pem":"[redacted:private-key]","b":1}'],
    [
      'in a string in a string',
      JSON.stringify(JSON.stringify([pem])),
      String.raw`"[\"[redacted:private-key]\"]"`,
    ],
    ['indented', pem.replaceAll(/^/gm, '    '), '    [redacted:private-key]'],
    ['in a diff', `${pem.replaceAll(/^/gm, '+')}\n b`, '+[redacted:private-key]\n b'],
    ['in the lines of a search', pem.replaceAll(/^/gm, '12- '), '12- [redacted:private-key]'],
    ['without an end', `${pem.slice(0, 150)}\nand so on\n`, '[redacted:private-key]\nand so on\n'],
    [
      'with headers',
      pem.replace('\n', '\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n'),
      '[redacted:private-key]',
    ],
    ['with Windows line ends', `${pem.replaceAll('\n', '\r\n')}\r\nb`, '[redacted:private-key]\r\nb'],
  ])('%s', (_, before, after) => expect(text(before)).toBe(after));
});

test('keys of objects count, none is lost, and what has no secret is the same object', () => {
  const token = `ghp_${ALNUM.slice(0, 36)}`;
  const clean = { list: [1, { a: null }], text: 'nothing here', ['__proto__']: 1 };
  expect(value(clean)).toBe(clean);
  const other = `ghp_${ALNUM.slice(1, 37)}`;
  const found = value({ clean, [token]: { deep: [token] }, [other]: 2 });
  expect(found).toEqual({
    clean,
    '[redacted:github-token]': { deep: ['[redacted:github-token]'] },
    '[redacted:github-token] (2)': 2,
  });
  expect((found as { clean: object }).clean).toBe(clean);
});

test.each([
  ['eyJ', (n: number) => 'eyJa.'.repeat(n)],
  ['glpat', (n: number) => 'glpat-'.repeat(n)],
  ['addresses', (n: number) => 'a://b:'.repeat(n)],
  ['authorization', (n: number) => 'authorization: bearer '.repeat(n)],
  ['backslashes', (n: number) => `-----BEGIN PRIVATE KEY-----${'\\'.repeat(n)}`],
  ['keys', (n: number) => '-----BEGIN PRIVATE KEY-----\n'.repeat(n)],
])('text full of %s takes no longer than it is long', (_, make) => {
  const time = (n: number) => {
    const hostile = make(n);
    const started = process.cpuUsage().user;
    text(hostile);
    return process.cpuUsage().user - started;
  };
  const length = countOf('HOSTILE_BYTES') / 10;
  time(2000);
  const short = Math.max(2000, Math.min(time(length / 10), time(length / 10)));
  bound(Math.min(time(length), time(length)) / short, 40);
});
