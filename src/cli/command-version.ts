import { Command } from 'commander';
import { VERSION } from '../lib/version.js';
import type { Terminal } from './terminal.js';

export function versionCommand(terminal: Terminal): Command {
  return new Command('version')
    .description('print the version')
    .option('--json', 'also Node, platform, schema and commit')
    .action(async ({ json }: { json?: boolean }) => {
      const facts = json && (await import('./version-facts.js')).versionFacts();
      terminal.stdout(`${facts ? JSON.stringify(facts) : VERSION}\n`);
    });
}
