import { wordsOf } from '../text.js';

/** Common parts of the names of secrets, and those that count only as a whole word. */
const SECRET_PARTS =
  wordsOf(`SECRET PASSWORD PASSWD PASSPHRASE CREDENTIAL APIKEY APITOKEN API_TOKEN ACCESSTOKEN ACCESS_TOKEN
  AUTHORIZATION OTLP_HEADERS CONNECTIONSTRING CONNECTION_STRING`);
const SECRET_WORDS = wordsOf(
  '_TOKEN_ _TOKENS_ _KEY_ _KEYS_ _PASS_ _PWD_ _PAT_ _AUTH_ _DSN_ _COOKIE_ _PRIVATE_',
);
/** Words beside them which mean that it is not a secret. */
const NOT_SECRET_PARTS = ['PUBLIC', 'PUBLISHABLE'];
const NOT_SECRET_NAMES = ['PWD', 'OLDPWD'];

/** Every run checks every variable: compiling one large expression would take longer than searching for each part. */
export function hasSecretName(name: string): boolean {
  const upper = snakeCase(name);
  const words = `_${upper.replaceAll('.', '_').replaceAll('-', '_')}_`;
  const isSecret =
    SECRET_PARTS.some((part) => upper.includes(part)) || SECRET_WORDS.some((word) => words.includes(word));
  return (
    isSecret && !NOT_SECRET_PARTS.some((part) => upper.includes(part)) && !NOT_SECRET_NAMES.includes(upper)
  );
}

/** `apiKey` is `API_KEY`. */
function snakeCase(name: string): string {
  const upper = name.toUpperCase();
  return upper === name ? name : name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toUpperCase();
}

/** Unambiguous names; `KEY`, `AUTH` and the like may mean something harmless. */
const SURELY_SECRET =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|(?:^|_)(?:PASS|PWD)$/i;
/** Says something about a secret, but is not one. */
const ABOUT_SECRET = /(?:NAME|ID|PATH|FILE|DIR|URL|URI|TYPE|VERSION|TTL|EXPIRY|REGION|USER)$/i;
const SHORT_WORD = /^[A-Za-z]{1,12}$/;
const NUMBER = /^[\d.,:\s+-]{0,20}$/;

/** Whether a value under a secret name is worth hiding: words, numbers, paths and addresses are in every text. */
export function hasSecretValue(name: string, value: string): boolean {
  if (!isPlainText(value)) return true;
  if (!SURELY_SECRET.test(name) || ABOUT_SECRET.test(name) || isPlace(value)) return false;
  return !SHORT_WORD.test(value) && (!NUMBER.test(value) || !/TOKEN/i.test(name));
}

/** Made of words and short numbers only. */
function isPlainText(value: string): boolean {
  if (NUMBER.test(value)) return true;
  const words = value.split(/[^A-Za-z0-9]+/);
  // Other signs than those that join words are typical of passwords.
  return !/[^\w\s./\\:@,;=?&+~()-]/.test(value) && words.every(isPlainWord);
}

/** `main`, `Main`, `MAIN`, `mainBranch`, `v2`, `x86`, `2026`; not `x7Kq2` and the like. */
function isPlainWord(word: string): boolean {
  return (
    /^(?:[A-Za-z]{0,2}\d{0,5}[a-z]?|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*\d{0,4}|[A-Z]+\d{0,4})$/.test(word) &&
    word.length <= 24
  );
}

/** A path or an address. */
export function isPlace(value: string): boolean {
  return /^(?:[A-Za-z][\w+.-]*:\/\/|~?\.{0,2}\/|[A-Za-z]:\\)/.test(value);
}
