import { formatDuration } from '../lib/duration.js';
import { count } from '../lib/text.js';
import { sourcesIn } from '../policy/sources.js';
import { Problem } from '../protocol/problem.js';
import type { GuardedPrograms } from '../sandbox/programs.js';
import { askSources } from '../runs/sources.js';
import type { Sources } from '../tools/sources.js';
import type { ConfinedQuestion } from './confined.js';
import { fail, failureOf, ok, warn, type Finding } from './finding.js';

/** Starts the MCP servers and the discovery that policies name, asks them for their tools, and ends them. */
export async function sourceFindings(
  { effective, workspace, variables, signal }: ConfinedQuestion,
  programs: GuardedPrograms | undefined,
): Promise<Finding[]> {
  const { servers, discovery } = sourcesIn(effective.ruleSets);
  if (servers.length === 0 && !discovery) return [];
  if (!programs) return [warn('mcp', 'the servers are not started, because there is no sandbox for them')];
  let discovered = 0;
  let sources: Sources;
  const onTools = (source: string, tools: readonly unknown[]) => {
    if (source === 'discovery') discovered = tools.length;
  };
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  try {
    const surroundings = { workspace, variables, log: () => {}, onTools, onWarning };
    sources = await askSources(effective, programs, surroundings, signal);
  } catch (error) {
    return [failureOf('mcp', error)];
  }
  await sources.close();
  const findings = sources.servers.map((server): Finding => {
    const check = `mcp:${server.name}`;
    if (server.status === 'skipped') return ok(check, 'not started: no call of its tools could be allowed');
    if (server.status === 'connected')
      return ok(check, `${count(server.tools, 'tool')} in ${formatDuration(server.latency_ms)}`);
    const message = `it cannot be used: ${server.error}`;
    return servers.some(({ name, required }) => name === server.name && required)
      ? fail(
          check,
          'tool_infra_error',
          message,
          'Declare a server that runs do not need with `required: false`.',
        )
      : warn(check, message);
  });
  if (discovery?.isNeeded) findings.push(discoveryFinding(sources.problem, discovered, warnings));
  return findings;
}

function discoveryFinding(problem: Problem | undefined, tools: number, warnings: readonly string[]): Finding {
  if (problem?.code === 'discovery') return failureOf('discovery', problem);
  const own = warnings.filter((message) => message.startsWith('discovery.list'));
  return own.length > 0 ? warn('discovery', own.join('; ')) : ok('discovery', count(tools, 'tool'));
}
