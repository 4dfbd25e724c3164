import { nameMatcher } from '../lib/glob.js';
import { Redactor } from '../lib/redact/redactor.js';
import { secretsIn, type Secret, type Variables } from '../lib/redact/secrets.js';
import type { EffectivePolicy, RuleSet } from '../policy/fold.js';
import { MODEL_CREDENTIALS } from '../providers/registry.js';
import { defaultRedactor } from './default-redactor.js';

type Redacting = Pick<EffectivePolicy, 'redact' | 'ruleSets'>;

/** Knows the secrets of a run: those of the environment, and what its policies call so. All of them add up. */
export async function redactorFor(variables: Variables, policy: Redacting): Promise<Redactor> {
  if (addsNothing(policy)) return defaultRedactor(variables);
  const { patterns } = policy.redact;
  const expressions =
    patterns.length > 0
      ? (await import('../lib/redact/expressions.js')).createExpressions(patterns)
      : undefined;
  return new Redactor({ secrets: () => allSecrets(variables, policy), expressions });
}

function addsNothing({ redact: { env, patterns }, ruleSets }: Redacting): boolean {
  if (env.length + patterns.length > 0) return false;
  return ruleSets.every(({ shell, servers, onAsk }) => {
    const sets = [shell.set, typeof onAsk === 'object' ? onAsk.set : {}];
    return servers.length + sets.flatMap(Object.keys).length === 0;
  });
}

/** The names of variables that hold secrets. */
export function secretVariables(variables: Variables, policy: Redacting): string[] {
  return [...new Set(secretsIn(variables, namedBy(policy)).map(({ name }) => name))];
}

/** What is a secret because somebody says so. */
function namedBy({ redact, ruleSets }: Redacting): (name: string) => boolean {
  const matchers = redact.env.map((glob) => nameMatcher(glob, { ignoreCase: true }));
  const named = new Set([...MODEL_CREDENTIALS, ...ruleSets.flatMap(variablesNamedIn)]);
  return (name) => named.has(name) || matchers.some((matches) => matches(name));
}

function allSecrets(variables: Variables, policy: Redacting): Secret[] {
  const isNamed = namedBy(policy);
  return [
    ...secretsIn(variables, isNamed),
    ...policy.ruleSets.flatMap((set) => secretsWrittenIn(set, isNamed)),
  ];
}

/** Variables that a policy puts into what it says to servers. */
function variablesNamedIn({ servers }: RuleSet): string[] {
  return servers.flatMap(({ connection }) => {
    const values = connection.type === 'http' ? Object.values(connection.headers) : [];
    return values.flatMap((value) => [...value.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name));
  });
}

/** Secrets that stand in a policy itself. */
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
