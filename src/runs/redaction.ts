import { nameMatcher } from '../lib/glob.js';
import { Redactor } from '../lib/redact/redactor.js';
import { secretsIn, type Secret, type Variables } from '../lib/redact/secrets.js';
import type { PolicyDocument } from '../policy/document.js';
import { defaultRedactor, MODEL_CREDENTIALS } from './default-redactor.js';

type Redacting = Pick<PolicyDocument, 'redact' | 'shell' | 'servers' | 'onAsk'>;

/** Knows the secrets of a run: those of the environment, and what its policies call so. All of them add up. */
export async function redactorFor(variables: Variables, documents: readonly Redacting[]): Promise<Redactor> {
  if (documents.every(addsNothing)) return defaultRedactor(variables);
  const patterns = [...new Set(documents.flatMap(({ redact }) => redact?.patterns ?? []))];
  const expressions =
    patterns.length > 0
      ? (await import('../lib/redact/expressions.js')).createExpressions(patterns)
      : undefined;
  return new Redactor({ secrets: () => allSecrets(variables, documents), expressions });
}

function addsNothing({ redact, shell, servers, onAsk }: Redacting): boolean {
  const { env = [], patterns = [] } = redact ?? {};
  const sets = [shell.set, typeof onAsk === 'object' ? onAsk.set : {}];
  return [...env, ...patterns, ...servers, ...sets.flatMap(Object.keys)].length === 0;
}

/** The names of variables that hold secrets. */
export function secretVariables(variables: Variables, documents: readonly Redacting[]): string[] {
  return [...new Set(secretsIn(variables, namedBy(documents)).map(({ name }) => name))];
}

/** What is a secret because somebody says so. */
function namedBy(documents: readonly Redacting[]): (name: string) => boolean {
  const globs = documents.flatMap(({ redact }) => redact?.env ?? []);
  const matchers = globs.map((glob) => nameMatcher(glob, { ignoreCase: true }));
  const named = new Set([...MODEL_CREDENTIALS, ...documents.flatMap(variablesNamedIn)]);
  return (name) => named.has(name) || matchers.some((matches) => matches(name));
}

function allSecrets(variables: Variables, documents: readonly Redacting[]): Secret[] {
  const isNamed = namedBy(documents);
  return [
    ...secretsIn(variables, isNamed),
    ...documents.flatMap((document) => secretsWrittenIn(document, isNamed)),
  ];
}

/** Variables that a policy puts into what it says to servers. */
function variablesNamedIn({ servers }: Redacting): string[] {
  return servers.flatMap(({ connection }) => {
    const values = connection.type === 'http' ? Object.values(connection.headers) : [];
    return values.flatMap((value) => [...value.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name));
  });
}

/** Secrets that stand in a policy itself. */
function secretsWrittenIn(
  { shell, servers, onAsk }: Redacting,
  isNamed: (name: string) => boolean,
): Secret[] {
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
