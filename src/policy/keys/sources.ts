import type { FromSchema } from '../../protocol/from-schema.js';
import { parseUrl } from '../../lib/parse-url.js';
import type { DiscoveryDeclaration, ServerConnection, ServerDeclaration } from '../../protocol/source.js';
import { positionOf, policyProblem, type PolicySource } from '../place.js';
import { ENVIRONMENT, passedVariables } from './environment.js';
import { key } from './row.js';
import { duration, mapOf, milliseconds, object, PARALLEL, text, texts, booleanKey } from './schemas.js';

const READ_ONLY_TOOLS = texts(
  'Tools that only read, by name; * matches any characters. All others count as changing something.',
);

const SERVER = object('One MCP server: a program, or an address.', {
  command: texts('The program and its arguments; it runs in the workspace.', {
    examples: [['github-mcp', 'stdio']],
  }),
  url: text('The address of a server that speaks streamable HTTP, or SSE.', {
    pattern: '^https?://',
    examples: ['https://mcp.example.org/mcp'],
  }),
  headers: mapOf({ type: 'string' }, 'HTTP headers; ${NAME} stands for a variable of the environment.', {
    examples: [{ Authorization: 'Bearer ${GITHUB_TOKEN}' }],
  }),
  env: ENVIRONMENT,
  required: booleanKey('Whether the run ends if it cannot be reached (true).'),
  trust: booleanKey('Whether its calls need no rule (false).'),
  include_tools: texts('Only these tools; * matches any characters.'),
  exclude_tools: texts('Not these tools.'),
  read_only_tools: READ_ONLY_TOOLS,
  parallel: PARALLEL,
  connect_timeout: duration('How long starting, connecting and listing tools may take (30s).'),
  timeout: duration('How long a call may take (10m).'),
  idle_timeout: duration('How long a call may run without reporting progress (5m).'),
});
type WrittenServer = FromSchema<typeof SERVER>;

const DISCOVERY = object(
  'Tools from a command.',
  {
    list: texts('The program that prints the declarations, and its arguments.', {
      examples: [['./tools/list']],
    }),
    call: texts('The program that gets a name as its last argument, and the arguments on stdin.', {
      examples: [['./tools/call']],
    }),
    required: booleanKey('Whether the run ends if it cannot list its tools (true).'),
    read_only_tools: READ_ONLY_TOOLS,
    parallel: PARALLEL,
  },
  ['list', 'call'],
);

/** The sources of external tools. */
export const SOURCES = {
  servers: key(mapOf(SERVER, 'Servers by name: letters, digits, dots, dashes and single underscores.'), {
    key: 'mcp.servers',
    read: (servers, source) =>
      Object.entries(servers).map(([name, written]) => serverIn(name, written, source)),
    empty: [],
    extend: joinServers,
    combine: 'own',
  }),
  discovery: key(DISCOVERY, { key: 'discovery', read: discoveryIn, extend: 'override', combine: 'own' }),
} as const;

/** No double underscore and no slash: those separate a server and its tool. */
const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?=[A-Za-z0-9.-])){0,39}$/;

function serverIn(name: string, written: WrittenServer, source: PolicySource): ServerDeclaration {
  return {
    name,
    place: positionOf(source, ['mcp', 'servers', name]),
    connection: connectionIn(name, written, source),
    required: written.required ?? true,
    trust: written.trust ?? false,
    includeTools: written.include_tools,
    excludeTools: written.exclude_tools ?? [],
    readOnlyTools: written.read_only_tools ?? [],
    ...(written.parallel !== undefined && { parallel: written.parallel }),
    connectTimeoutMs: milliseconds(written.connect_timeout ?? '30s'),
    timeoutMs: milliseconds(written.timeout ?? '10m'),
    idleTimeoutMs: milliseconds(written.idle_timeout ?? '5m'),
  };
}

function connectionIn(name: string, written: WrittenServer, source: PolicySource): ServerConnection {
  const fault = (at: string, message: string) => policyProblem(source, ['mcp', 'servers', name, at], message);
  const { command, url, headers = {}, env = {} } = written;
  const pass = passedVariables(env.pass, source, ['mcp', 'servers', name, 'env', 'pass']);
  if (!SERVER_NAME.test(name)) {
    const rule = 'up to 40 letters, digits, dots, dashes and single underscores, a letter or digit first';
    throw policyProblem(source, ['mcp', 'servers', name], `\`${name}\` is not a valid server name: ${rule}`);
  }
  if (!command && url === undefined)
    throw fault('command', `server \`${name}\` needs a \`command\` or a \`url\``);
  if (command && url !== undefined)
    throw fault('url', `server \`${name}\` has both a \`command\` and a \`url\``);
  if (command) {
    if (written.headers)
      throw fault('headers', '`headers` go with a `url`; a program gets its secrets by `env`');
    return { type: 'stdio', command, pass, set: env.set ?? {} };
  }
  if (written.env)
    throw fault('env', '`env` goes with a `command`; an address gets its secrets by `headers`');
  if (!parseUrl(String(url))) throw fault('url', `\`${url}\` is not an address`);
  return { type: 'http', url: String(url), headers };
}

function discoveryIn(written: FromSchema<typeof DISCOVERY>, source: PolicySource): DiscoveryDeclaration {
  return {
    place: positionOf(source, ['discovery']),
    list: written.list,
    call: written.call,
    required: written.required ?? true,
    readOnlyTools: written.read_only_tools ?? [],
    ...(written.parallel !== undefined && { parallel: written.parallel }),
  };
}

/** A server declared again replaces the former one. */
function joinServers(
  base: readonly ServerDeclaration[],
  over: readonly ServerDeclaration[],
): readonly ServerDeclaration[] {
  const names = new Set(over.map(({ name }) => name));
  return [...base.filter(({ name }) => !names.has(name)), ...over];
}
