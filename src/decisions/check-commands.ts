import type { Variables } from '../lib/redact/secrets.js';
import { oneLine } from '../lib/text.js';
import { shippedProblem, type ShippedPlace } from '../policy/shipped.js';
import { commandTool } from '../policy/tool-names.js';
import { openChecker } from './check-policy.js';

interface CeilingPlace extends Pick<ShippedPlace, 'ceiling' | 'ceilingFolder'> {
  readonly workspace: string;
}

/** Throws a Problem if a ceiling does not allow one of these command lines. */
export async function checkCommands(
  commands: readonly string[],
  { ceiling, ceilingFolder, workspace }: CeilingPlace,
  variables: Variables,
): Promise<void> {
  if (ceiling.length === 0 || commands.length === 0) return;
  const checker = await openChecker({
    policies: ceiling,
    mode: undefined,
    folder: ceilingFolder,
    cwd: workspace,
    home: variables['HOME'],
    untrusted: false,
    searchPath: variables['PATH'],
    variables,
  });
  for (const command of commands) {
    const { decision } = await checker.check(commandTool(), { command });
    if (decision !== 'allow')
      throw shippedProblem(`the ceiling does not allow its command \`${oneLine(command, 200)}\``);
  }
}
