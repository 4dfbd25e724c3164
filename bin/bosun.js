#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// What V8 has compiled is kept beside what it was compiled from, never where HOME or a workspace says: whoever can write
// there could as well write the program. Where nothing can be written, or Node is older than 22, nothing is kept.
module.enableCompileCache?.(fileURLToPath(new URL('../dist/.compiled', import.meta.url)));
const { main } = await import('../dist/cli.js');
await main(process.argv, new URL('../', import.meta.url));
