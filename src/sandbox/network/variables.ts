/** The loopback of a sandbox is its own: servers that a command starts there are reached without us. */
const DIRECT = 'localhost,127.0.0.1,::1,[::1],.localhost';

/** Makes programs use the proxy: the usual names, and names for programs that ignore those. */
export function proxyVariables(port: number): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${port}`;
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: DIRECT,
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: DIRECT,
    ...(nodeTakesProxies() && { NODE_USE_ENV_PROXY: '1' }),
    // Yarn from version 2 on.
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
    MAVEN_OPTS: `${javaOptions(port)} ${MAVEN_ONLY}`,
    GRADLE_OPTS: javaOptions(port),
  };
}

/** Maven from 3.9 on ignores Java's own options. */
const MAVEN_ONLY = '-Daether.connector.http.useSystemProperties=true';

/** The loopback is exempt by itself. No character in them is special to a shell: old Gradle wrappers evaluate them. */
function javaOptions(port: number): string {
  const proxyFlags = (scheme: string) => `-D${scheme}.proxyHost=127.0.0.1 -D${scheme}.proxyPort=${port}`;
  return `${proxyFlags('http')} ${proxyFlags('https')}`;
}

/** Options add up; other variables have only one value. */
export function withVariables(
  given: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const joined = Object.keys(own)
    .filter((name) => name.endsWith('_OPTS') && given[name])
    .map((name) => [name, `${given[name]} ${own[name]}`] as const);
  return { ...given, ...own, ...Object.fromEntries(joined) };
}

/**
 * Node reads the usual names only if it is told to, and before version 24 it warns about that in every process. The
 * one that commands find is probably ours.
 */
function nodeTakesProxies(): boolean {
  return Number(process.versions.node.split('.')[0]) >= 24;
}
