import type { Risk } from '../../protocol/risk.js';

/** The programs that a command line runs. The grammar is loaded when needed. */
export async function rootCommands(line: string): Promise<string[]> {
  const shell = await import('./index.js');
  return shell.rootCommands(line);
}

/** What a command line may do at worst. */
export async function shellRisk(line: string): Promise<Risk> {
  const shell = await import('./index.js');
  return shell.lineRisk(line);
}
