import { oneLine } from '../lib/text.js';
import { loadShipped, refused, type ShippedPlace, type ShippedPolicies } from '../policy/shipped.js';
import { openChecker } from '../decisions/check-policy.js';
import { policyFlags } from './policy-flags.js';
import { factsOf, type Orders, type PolicyFacts } from './policy-facts.js';

/** Reads policies from elsewhere as strictly as any other, under a ceiling. Throws a Problem. */
export async function openShipped(
  shipped: ShippedPolicies,
  orders: Omit<Orders, 'policies' | 'mode'>,
  place: ShippedPlace,
): Promise<PolicyFacts> {
  return factsOf(await loadShipped(shipped, policyFlags(orders), place), orders);
}

interface CeilingPlace extends Pick<ShippedPlace, 'ceiling' | 'ceilingFolder'> {
  readonly workspace: string;
}

/** Throws a Problem if a ceiling does not allow one of these command lines. */
export async function checkCommands(
  commands: readonly string[],
  { ceiling, ceilingFolder, workspace }: CeilingPlace,
  variables: Orders['variables'],
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
    const { decision } = await checker.check('run_shell_command', { command });
    if (decision !== 'allow')
      throw refused(`the ceiling does not allow its command \`${oneLine(command, 200)}\``);
  }
}
