import { VERSION } from '../lib/version.js';
import type { EffectivePolicy } from '../policy/fold.js';
import { sourcesIn } from '../policy/sources.js';
import { childEnvironment } from '../sandbox/environment.js';
import type { GuardedPrograms } from '../sandbox/programs.js';
import { openSources, type Sources, type SourceSettings } from '../tools/sources.js';
import { unattended } from '../tools/unattended.js';

type Surroundings = Pick<SourceSettings, 'workspace' | 'variables' | 'log' | 'onTools' | 'onWarning'>;

/** Asks all sources that the policies name for tools. Their programs are started like all others. */
export function askSources(
  { ruleSets, shell }: EffectivePolicy,
  programs: GuardedPrograms,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<Sources> {
  const { timeoutMs, idleTimeoutMs } = shell;
  const settings: SourceSettings = {
    ...surroundings,
    version: VERSION,
    environmentFor: ({ pass, set } = { pass: [], set: {} }) => {
      const extra = { pass: [...shell.pass, ...pass], set: { ...shell.set, ...set } };
      return unattended(childEnvironment(surroundings.variables, extra));
    },
    timeoutMs,
    idleTimeoutMs,
    runCommand: programs.runCommand,
    serverStarter: async () => {
      const { serverStarter } = await import('../sandbox/server.js');
      return programs.guardServers(serverStarter(programs.launcher));
    },
  };
  return openSources(sourcesIn(ruleSets), settings, signal);
}
