import { privateKey } from './private-key.js';
import {
  CharacterSet,
  followsWord,
  isAt,
  runEnd,
  runFinding,
  textIn,
  type LiteralMatch,
  type Shape,
  type TokenRow,
  type Finding,
} from './shape.js';

const ALNUM = 'A-Za-z0-9';
const NAME = 'A-Za-z0-9_-';

/** Tokens with a prefix that their issuers chose to make them recognizable. */
const TOKENS: readonly TokenRow[] = [
  ['github-token', 'ghp_|gho_|ghu_|ghs_|ghr_', 'A-Za-z0-9_', 30],
  ['github-token', 'github_pat_', 'A-Za-z0-9_', 22],
  [
    'gitlab-token',
    'glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-|glimt-|glagent-|gloas-',
    'A-Za-z0-9_.-',
    20,
  ],
  ['aws-access-key-id', 'AKIA|ASIA|ABIA|ACCA', 'A-Z2-7', 16, true],
  ['google-api-key', 'AIza', NAME, 35],
  ['google-token', 'ya29.', 'A-Za-z0-9_.-', 20],
  ['google-token', 'GOCSPX-', NAME, 24],
  ['anthropic-key', 'sk-ant-', NAME, 20],
  ['openai-key', 'sk-proj-|sk-svcacct-|sk-admin-|sk-None-|sk-or-', NAME, 20],
  ['openai-key', 'sk-', ALNUM, 32],
  ['slack-token', 'xoxb-|xoxp-|xoxa-|xoxr-|xoxs-|xoxe-|xoxe.|xoxc-|xoxd-|xapp-', 'A-Za-z0-9.%-', 20],
  ['slack-webhook', 'hooks.slack.com/services/|hooks.slack.com/workflows/', 'A-Za-z0-9/_', 20],
  ['discord-webhook', 'discord.com/api/webhooks/|discordapp.com/api/webhooks/', 'A-Za-z0-9/_-', 60],
  ['stripe-key', 'sk_live_|sk_test_|rk_live_|rk_test_|whsec_', ALNUM, 16],
  ['npm-token', 'npm_', ALNUM, 36],
  ['pypi-token', 'pypi-AgE', NAME, 40],
  ['rubygems-token', 'rubygems_', 'a-f0-9', 48],
  ['docker-token', 'dckr_pat_|dckr_oat_', NAME, 20],
  ['digitalocean-token', 'dop_v1_|doo_v1_|dor_v1_', 'a-f0-9', 64],
  ['databricks-token', 'dapi', 'a-f0-9', 32],
  ['huggingface-token', 'hf_', ALNUM, 30],
  ['groq-key', 'gsk_', ALNUM, 40],
  ['xai-key', 'xai-', ALNUM, 60],
  ['perplexity-key', 'pplx-', ALNUM, 40],
  ['vault-token', 'hvs.|hvb.|hvr.', NAME, 24],
  ['grafana-token', 'glsa_|glc_e', 'A-Za-z0-9_+/=', 32],
  ['shopify-token', 'shpat_|shpca_|shppa_|shpss_', 'a-fA-F0-9', 32],
  ['mailgun-key', 'key-', 'a-f0-9', 32, true],
  ['linear-key', 'lin_api_', ALNUM, 32],
  ['notion-token', 'ntn_', ALNUM, 40],
  ['figma-token', 'figd_', NAME, 36],
  ['atlassian-token', 'ATATT3x', 'A-Za-z0-9_=-', 60],
  ['postman-key', 'PMAK-', 'a-f0-9-', 50],
  ['newrelic-key', 'NRAK-', 'A-Z0-9', 27],
  ['planetscale-token', 'pscale_tkn_|pscale_pw_|pscale_oauth_', 'A-Za-z0-9_.-', 32],
  ['sentry-token', 'sntrys_|sntryu_', 'A-Za-z0-9_+/=-', 40],
  ['supabase-token', 'sbp_', 'a-f0-9', 40],
  ['tailscale-key', 'tskey-', NAME, 20],
  ['age-key', 'AGE-SECRET-KEY-1', 'A-Z0-9', 50],
];

/** SG.NAME.SECRET */
const sendgrid: Shape = {
  name: 'sendgrid-key',
  literals: 'SG.',
  look: (place) => (followsWord(place) ? 'none' : dotted(place, place.start + 3, [16, 32])),
};

const DASHED = new CharacterSet(NAME);
/** The longest part of a token that is waited for. */
const MAX_PART = 8192;

/** Three texts with dots between them, of which the first two are JSON in base64. */
const jsonWebToken: Shape = {
  name: 'jwt',
  literals: 'eyJ',
  // A dash belongs to it: a run of characters is examined only once.
  look: (place) => (followsWord(place, DASHED) ? 'none' : dotted(place, place.start, [16, 10, 0], 'eyJ')),
};

/** Runs of these minimum lengths with dots between them; `second` is how the second one begins. */
function dotted(place: LiteralMatch, from: number, least: readonly number[], second = ''): Finding {
  const { bytes, start, final } = place;
  let at = from;
  for (const [i, min] of least.entries()) {
    if (i === least.length - 1) return runFinding(place, start, at, { set: DASHED, min });
    const end = runEnd(bytes, at, DASHED, at + MAX_PART);
    if (end === bytes.length) return final ? 'none' : 'unsure';
    if (end - at < min || bytes[end] !== DOT) return 'none';
    at = end + 1;
    if (i === 0 && at + second.length > bytes.length) return final ? 'none' : 'unsure';
    if (i === 0 && !isAt(bytes, at, second)) return 'none';
  }
  return 'none';
}

const DOT = '.'.charCodeAt(0);

const VALUE = new CharacterSet('A-Za-z0-9._~+/=-');
const GAP = new CharacterSet(' \t"\'\\:=>');
const MAX_GAP = 16;
const SCHEME = /^(?:bearer|basic|token|digest|apikey|negotiate)$/i;
/** Not a word of a sentence. */
const UNLIKE_A_WORD = /[0-9A-Z_+/=]/;
const SPACE = new CharacterSet(' \t+');

/** The value of a header or a setting, after a colon or the like, and perhaps a word for its kind. */
function header(name: string, literals: string, rule: Parameters<typeof runFinding>[3]): Shape {
  return {
    name,
    literals,
    look: (place) => {
      const { bytes, after, final } = place;
      const value = runEnd(bytes, after, GAP, Math.min(bytes.length, after + MAX_GAP));
      if (value === bytes.length && !final) return 'unsure';
      if (!/[:=]/.test(textIn(bytes, after, value))) return 'none';
      const word = runEnd(bytes, value, VALUE, Math.min(bytes.length, value + MAX_GAP));
      if (word === bytes.length && !final && word - value < MAX_GAP) return 'unsure';
      if (!SCHEME.test(textIn(bytes, value, word))) return runFinding(place, value, value, rule);
      const secret = runEnd(bytes, word, SPACE, Math.min(bytes.length, word + MAX_GAP));
      return runFinding(place, secret, secret, { set: VALUE, min: 8, like: UNLIKE_A_WORD });
    },
  };
}

const HEADERS: readonly Shape[] = [
  header('authorization', 'uthoriza^tion|UTHORIZA^TION', { set: VALUE, min: 20, like: /\d/ }),
  header(
    'api-key',
    'x-api^-key|X-API^-Key|X-Api^-Key|X-API^-KEY|x-go^og-api-key|X-Go^og-Api-Key|PRIVATE-T^OKEN|Private-T^oken',
    { set: VALUE, min: 16, like: /\d/ },
  ),
  header('aws-secret-key', 'ecret_ac^cess_key|ECRET_AC^CESS_KEY|ecretAcc^essKey', {
    set: new CharacterSet('A-Za-z0-9/+'),
    min: 40,
    exact: true,
  }),
  // The fields of key files; one such line is enough.
  header('private-key-id', 'rivate_k^ey_id', { set: new CharacterSet('a-f0-9'), min: 40, exact: true }),
  header('client-secret', 'lient_se^cret|efresh_to^ken|ccess_to^ken', {
    set: new CharacterSet('A-Za-z0-9._~+/=_-'),
    min: 20,
    like: /^(?=.*[a-z])(?:[^\d]*\d){3}/,
  }),
];

/** A word and what follows it; only the latter is secret. */
function behindLiterals(name: string, literals: string, min: number): Shape {
  const rule = { set: new CharacterSet('A-Za-z0-9._~+/%-'), min, like: /\d/ };
  return { name, literals, look: (place) => runFinding(place, place.after, place.after, rule) };
}

const BEHIND: readonly Shape[] = [
  behindLiterals('bearer-token', 'Bearer |bearer ', 20),
  behindLiterals('api-key', '?key=|&key=|api_key=|apikey=|access_token=|refresh_token=|client_secret=', 16),
];

/** scheme://user:PASSWORD@host */
const urlPassword: Shape = {
  name: 'url-password',
  literals: '://',
  look: ({ bytes, after, final }) => {
    const limit = Math.min(bytes.length, after + MAX_AUTHORITY);
    const end = runEnd(bytes, after, AUTHORITY, limit);
    if (end === bytes.length && !final) return 'unsure';
    // Nearly every address ends here.
    if (!isAmong(AT, bytes, after, end)) return 'none';
    const authority = textIn(bytes, after, end);
    const [, user, password] = /^([^:@]*:)([^$<{*[].{7,})@/s.exec(authority) ?? [];
    if (user === undefined || password === undefined) return 'none';
    const start = after + user.length;
    return { start, end: start + password.length };
  },
};

const AT = '@'.charCodeAt(0);

function isAmong(byte: number, bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === byte) return true;
  return false;
}

const MAX_AUTHORITY = 512;
const AUTHORITY = new CharacterSet('!-\u00ff', '"\'<>\\`?#/');

export const SHAPES: readonly (Shape | TokenRow)[] = [
  ...TOKENS,
  sendgrid,
  jsonWebToken,
  ...HEADERS,
  ...BEHIND,
  urlPassword,
  privateKey,
];
