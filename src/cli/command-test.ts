import { Command } from 'commander';
import { addFlags } from './flags/row.js';
import { FLAGS } from './flags/table.js';
import { TEST_FLAGS, type TestFlags, type TestInitFlags } from './flags/test.js';
import { applyVariables } from './flags/variables.js';
import type { Terminal } from './terminal.js';

const EXAMPLES = `
Examples:
  bosun test init .bosun/runs/RUN-ID/transcript.jsonl    make a case of a run
  bosun test bosun-tests                                 play all cases
  bosun test bosun-tests --only 'cart-*' --update        accept what is different now

A case is a folder with transcript.jsonl (what the model said), workspace/ (the files before the run),
and, if they are wanted, policy.yaml (decides instead of the recorded policy) and changes.patch (what
the run changed). The recorded model is played against real tools in a copy of the workspace: no key,
no network to the model. Decisions, outcome, answer and changes must be the recorded ones. Commands in
a case really run, in the sandbox that its policy asks for.

Exit codes: 0; 13 if a case went differently; 2 if one cannot be played.`;

const INIT_EXAMPLES = `
Examples:
  bosun test init run.jsonl
  bosun test init run.jsonl --out bosun-tests/cart --workspace fixtures/cart

The files are taken from the commit that the run began with, or from --workspace. The new case is played
once; if it does not go as it was recorded, its files are not those from before the run (exit 13).`;

export function testCommand(terminal: Terminal): Command {
  const command = new Command('test')
    .description('play recorded runs again with real tools: do they still go as they did?')
    .argument('<dir>', 'a folder of cases')
    .addHelpText('after', EXAMPLES);
  addFlags(command, { ...FLAGS, ...TEST_FLAGS }, 'test');
  command.action(async (folder: string) => {
    applyVariables(command, terminal.variables);
    const { performTest } = await import('./perform-test.js');
    await performTest(folder, command.opts<TestFlags>(), terminal);
  });
  return command.addCommand(testInitCommand(terminal));
}

function testInitCommand(terminal: Terminal): Command {
  const command = new Command('init')
    .description('make a case of a run')
    .argument('<transcript>', 'the transcript of a run that ended by itself')
    .addHelpText('after', INIT_EXAMPLES);
  addFlags(command, { ...FLAGS, ...TEST_FLAGS }, 'test init');
  return command.action(async (transcript: string) => {
    applyVariables(command, terminal.variables);
    const { performTestInit } = await import('./perform-test.js');
    await performTestInit(transcript, command.opts<TestInitFlags>(), terminal);
  });
}
