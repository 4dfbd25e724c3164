import childProcess from 'node:child_process';
import Environment from './jest.environment.mjs';

const { ChildProcess } = childProcess;
const { spawn } = ChildProcess.prototype;
const { spawnSync, execFileSync, execSync } = childProcess;

/** Where units are tested: whatever starts a process there belongs to another tier. */
export default class UnitEnvironment extends Environment {
  constructor(config, context) {
    super(config, context);
    const refuse = () => {
      throw new Error(
        `${context.testPath} starts a process: list it under STARTS_PROCESSES in test/tiers.mjs.`,
      );
    };
    // A worker runs suites of all tiers one after the other, with one copy of Node's own modules.
    ChildProcess.prototype.spawn = refuse;
    Object.assign(childProcess, { spawnSync: refuse, execFileSync: refuse, execSync: refuse });
  }

  async teardown() {
    ChildProcess.prototype.spawn = spawn;
    Object.assign(childProcess, { spawnSync, execFileSync, execSync });
    await super.teardown();
  }
}
