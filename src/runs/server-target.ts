import { configProblem } from '../protocol/problem.js';
import type { ServerDeclaration } from '../protocol/source.js';
import type { ServerTarget } from '../tools/mcp/open.js';
import { unattended } from '../tools/unattended.js';
import { childEnvironment, type ExtraVariables, type RunRequest } from './settings.js';

interface Surroundings {
  readonly variables: RunRequest['variables'];
  readonly shell: ExtraVariables;
}

/** How a server is reached, with the variables that its values name filled in. */
export function targetOf(server: ServerDeclaration, { variables, shell }: Surroundings): ServerTarget {
  const { connection } = server;
  const fill = (values: Readonly<Record<string, string>>) => filled(values, server, variables);
  switch (connection.type) {
    case 'stdio': {
      const extra = {
        pass: [...shell.pass, ...connection.pass],
        set: { ...shell.set, ...fill(connection.set) },
      };
      const environment = unattended(childEnvironment(variables, extra));
      return { type: 'stdio', command: connection.command, environment };
    }
    case 'http':
      return { type: 'http', url: connection.url, headers: fill(connection.headers) };
    default:
      return connection satisfies never;
  }
}

/** `${NAME}` stands for a variable of the environment, and for nothing else. */
function filled(
  values: Readonly<Record<string, string>>,
  { name, place }: ServerDeclaration,
  variables: RunRequest['variables'],
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
