import type { Variables } from '../lib/redact/secrets.js';
import { configProblem } from '../protocol/problem.js';
import type { ServerDeclaration } from '../protocol/source.js';
import type { ServerTarget } from './mcp/open.js';

export type { ServerTarget } from './mcp/open.js';

/** The environment that a program sees, including what is passed on and set for it. */
export type EnvironmentFor = (extra?: {
  readonly pass: readonly string[];
  readonly set: Readonly<Record<string, string>>;
}) => Readonly<Record<string, string>>;

interface Surroundings {
  readonly variables: Variables;
  readonly environmentFor: EnvironmentFor;
}

/** How to reach a server, with the variables in its values filled in. */
export function targetOf(
  server: ServerDeclaration,
  { variables, environmentFor }: Surroundings,
): ServerTarget {
  const { connection } = server;
  const fill = (values: Readonly<Record<string, string>>) => filled(values, server, variables);
  switch (connection.type) {
    case 'stdio': {
      const { command, pass, set } = connection;
      return { type: 'stdio', command, environment: environmentFor({ pass, set: fill(set) }) };
    }
    case 'http':
      return { type: 'http', url: connection.url, headers: fill(connection.headers) };
    default:
      return connection satisfies never;
  }
}

/** Only `${NAME}` is replaced, by a variable of the environment. */
function filled(
  values: Readonly<Record<string, string>>,
  { name, place }: ServerDeclaration,
  variables: Variables,
): Record<string, string> {
  const entries = Object.entries(values).map(([key, value]) => {
    const text = value.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_all, variable: string) => {
      const found = variables[variable];
      if (found) return found;
      throw configProblem(
        'policy',
        `${place}: \`${key}\` of server \`${name}\` needs the variable ${variable}`,
        {
          hint: `${variable} is not set, or it is empty.`,
        },
      );
    });
    return [key, text] as const;
  });
  return Object.fromEntries(entries);
}
