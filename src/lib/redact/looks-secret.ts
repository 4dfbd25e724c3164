/** Names of variables and fields that hold secrets, as people usually call them. */
const SECRET_NAME =
  /(?:^|[_.-])(?:TOKENS?|KEYS?|PASS|PWD|PAT|AUTH|DSN|COOKIE|PRIVATE)(?:$|[_.-])|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY|API_?TOKEN|ACCESS_?TOKEN|AUTHORIZATION|CONNECTION_?STRING/i;
/** What such words stand beside when it is not the secret that is meant. */
const NOT_SECRET_NAME = /^(?:OLD)?PWD$|PUBLIC|PUBLISHABLE/i;

export function hasSecretName(name: string): boolean {
  const snake = name.replaceAll(/([a-z])([A-Z])/g, '$1_$2');
  return SECRET_NAME.test(snake) && !NOT_SECRET_NAME.test(snake);
}

const PASSWORD_NAME = /PASSWORD|PASSWD|PASSPHRASE|(?:^|_)(?:PASS|PWD)$/i;
const MIN_PHRASE = 16;

/** Whether a value under a secret name is worth hiding: words, numbers, paths and addresses stand in every other text. */
export function hasSecretValue(name: string, value: string): boolean {
  if (!isPlain(value)) return true;
  return PASSWORD_NAME.test(name) && value.length >= MIN_PHRASE && !isPlace(value);
}

/** Made of words and short numbers only. */
function isPlain(value: string): boolean {
  if (/^[\d.,:\s+-]{0,20}$/.test(value)) return true;
  const words = value.split(/[^A-Za-z0-9]+/);
  // Signs other than those that join words belong to passwords.
  return !/[^\w\s./\\:@,;=?&+~()-]/.test(value) && words.every(isPlainWord);
}

/** `main`, `Main`, `MAIN`, `mainBranch`, `v2`, `x86`, `2026`; not `x7Kq2` and the like. */
function isPlainWord(word: string): boolean {
  return (
    /^(?:[A-Za-z]{0,2}\d{0,5}[a-z]?|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*\d{0,4}|[A-Z]+\d{0,4})$/.test(word) &&
    word.length <= 24
  );
}

function isPlace(value: string): boolean {
  return /^(?:[A-Za-z][\w+.-]*:\/\/|~?\.{0,2}\/|[A-Za-z]:\\)/.test(value);
}
