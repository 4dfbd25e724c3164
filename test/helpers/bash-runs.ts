import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';

/** What a line really did: the programs it ran, and the files that it made where it should not. */
export interface BashRun {
  readonly ran: readonly string[];
  readonly wrote: readonly string[];
}

/** Looked up in the shell's own path, as only what is linked from here can be run. */
const WRAPPERS = ['bash', 'sh', 'env', 'timeout', 'nice'];
const TIMEOUT_MS = 700;

/** A folder in which bash runs lines with nothing to run but programs that note their names. */
export class BashPlace {
  readonly workspace: string;
  readonly #root: string;
  readonly #log: string;
  readonly #environment: Record<string, string>;
  #before: ReadonlySet<string> | undefined;

  constructor(root: string, stubs: readonly string[]) {
    const programs = join(root, 'programs');
    this.#root = join(root, 'place');
    this.workspace = join(this.#root, 'around', 'workspace');
    this.#log = join(root, 'log');
    for (const folder of ['src/deep', 'out', '.git', '../out'])
      mkdirSync(join(this.workspace, folder), { recursive: true });
    writeFileSync(join(this.workspace, 'src/a.js'), '');
    mkdirSync(programs, { recursive: true });
    for (const name of stubs) {
      const status = name.endsWith('1') ? 0 : 1;
      const script = `#!/bin/sh\necho ${name} >> '${this.#log}'\nexit ${status}\n`;
      writeFileSync(join(programs, name), script, { mode: 0o755 });
    }
    // Not the keyword but the program, which is not everywhere.
    writeFileSync(join(programs, 'time'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
    for (const name of WRAPPERS) symlinkSync(inPath(name), join(programs, name));
    this.#environment = {
      PATH: programs,
      // No line calls itself out of hand.
      FUNCNEST: '3',
      'BASH_FUNC_command_not_found_handle%%': `() { printf '%s\\n' "$1" >> '${this.#log}'; return 127; }`,
    };
  }

  async run(line: string): Promise<BashRun> {
    this.#before ??= new Set(this.#files());
    rmSync(this.#log, { force: true });
    const child = spawn(inPath('bash'), ['--norc', '--noprofile', '-c', line], {
      cwd: this.workspace,
      env: this.#environment,
      stdio: 'ignore',
      detached: true,
    });
    await new Promise<void>((done) => {
      const timer = setTimeout(() => end(child.pid), TIMEOUT_MS);
      child.on('error', () => done());
      child.on('exit', () => {
        clearTimeout(timer);
        done();
      });
    });
    // What runs in the background gets a moment, and no more.
    if (/&|[<>]\(/.test(line)) await new Promise((done) => setTimeout(done, 15));
    end(child.pid);
    const ran = existsSync(this.#log) ? readFileSync(this.#log, 'utf8').split('\n').filter(Boolean) : [];
    return { ran, wrote: this.#tidy() };
  }

  /** Puts everything back, and tells what was made outside of `out/`. */
  #tidy(): string[] {
    const made = this.#files().filter((name) => !this.#before?.has(name));
    for (const name of made) rmSync(join(this.#root, name), { recursive: true, force: true });
    return made.filter((name) => !name.startsWith('around/workspace/out/'));
  }

  #files(): string[] {
    return readdirSync(this.#root, { recursive: true, encoding: 'utf8' });
  }
}

function end(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

function inPath(name: string): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (found === undefined) throw new Error(`there is no ${name} here`);
  return found;
}
