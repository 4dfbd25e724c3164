import { nameMatcher } from '../lib/glob.js';
import { secretsIn, type Secret, type Variables } from '../lib/redact/secrets.js';
import type { EffectivePolicy, RuleSet } from './fold.js';

/** What policies say about secrets, and where they may contain some. */
export type SecretKeys = Pick<EffectivePolicy, 'redact' | 'ruleSets'>;

/** Whether there may be secrets because of a policy. */
export function hasOwnSecrets({ redact: { env, patterns }, ruleSets }: SecretKeys): boolean {
  if (env.length + patterns.length > 0) return true;
  return ruleSets.some(({ shell, servers, onAsk }) => {
    const sets = [shell.set, typeof onAsk === 'object' ? onAsk.set : {}];
    return servers.length + sets.flatMap(Object.keys).length > 0;
  });
}

/** The names of variables with secrets; `credentials` are secret whatever a policy says. */
export function secretVariables(
  variables: Variables,
  keys: SecretKeys,
  credentials: readonly string[],
): string[] {
  const secrets = secretsIn(variables, namedBy(keys, credentials));
  return [...new Set(secrets.map(({ name }) => name))];
}

/** Secrets of the environment, and those written in a policy. */
export function secretsUnder(
  variables: Variables,
  keys: SecretKeys,
  credentials: readonly string[],
): Secret[] {
  const isNamed = namedBy(keys, credentials);
  const written = keys.ruleSets.flatMap((set) => secretsWrittenIn(set, isNamed));
  return [...secretsIn(variables, isNamed), ...written];
}

/** What is secret because a policy says so. */
function namedBy(
  { redact, ruleSets }: SecretKeys,
  credentials: readonly string[],
): (name: string) => boolean {
  const matchers = redact.env.map((glob) => nameMatcher(glob, { ignoreCase: true }));
  const named = new Set([...credentials, ...ruleSets.flatMap(variablesNamedIn)]);
  return (name) => named.has(name) || matchers.some((matches) => matches(name));
}

/** Variables that a policy uses in what it sends to servers. */
function variablesNamedIn({ servers }: RuleSet): string[] {
  return servers.flatMap(({ connection }) => {
    const values = connection.type === 'http' ? Object.values(connection.headers) : [];
    return values.flatMap((value) => [...value.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name));
  });
}

/** Secrets written in a policy itself. */
function secretsWrittenIn({ shell, servers, onAsk }: RuleSet, isNamed: (name: string) => boolean): Secret[] {
  const tables = [
    shell.set,
    ...(typeof onAsk === 'object' ? [onAsk.set] : []),
    ...servers.map(({ connection }) => (connection.type === 'http' ? connection.headers : connection.set)),
  ];
  return tables.flatMap((table) => {
    // `Bearer TOKEN`: the last word is the secret.
    const words = Object.entries(table).map(
      ([name, value]) => [name, value.split(' ').at(-1) ?? ''] as const,
    );
    const literal = words.filter(([, value]) => !value.includes('${'));
    return secretsIn(Object.fromEntries(literal), isNamed);
  });
}
