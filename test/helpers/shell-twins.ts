import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

/** All that can be seen of a script from outside: what it printed, how it ended, and what it left. */
export interface Seen {
  readonly output: string;
  readonly errors: string;
  readonly status: number | null;
  readonly files: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 5000;
const LONG_AGO = new Date('2026-01-01T12:00:00Z');

/** A folder that is the same whenever a script begins, with programs that tell what they were given. */
export class TwinPlace {
  readonly workspace: string;
  readonly #home: string;
  readonly #path: string;
  readonly #files: Readonly<Record<string, string>>;
  /** What the folder looks like at first, and whether it does again. */
  #untouched = '';
  #isUntouched = false;

  /** `search` is what follows the stubs in the search path. */
  constructor(
    root: string,
    stubs: readonly string[],
    files: Readonly<Record<string, string>>,
    search: string,
  ) {
    this.workspace = join(root, 'around/workspace');
    this.#home = join(root, 'home');
    this.#files = files;
    const programs = join(root, 'programs');
    this.#path = `${programs}:${search}`;
    mkdirSync(programs, { recursive: true });
    for (const name of stubs) {
      const status = name.endsWith('2') ? 1 : 0;
      const file = join(programs, name);
      // In one piece, so that two at a time do not get into each other's lines.
      writeFileSync(file, `#!/bin/bash\nprintf -v all ' [%s]' "$@"; echo "${name}$all"\nexit ${status}\n`);
      chmodSync(file, 0o755);
    }
  }

  /** What is to be seen of a script, and of the text that is to do the same. */
  twins(shell: 'bash' | 'dash', source: string, text: string): [Seen, Seen] {
    // What goes on beside something else prints when it likes.
    const inOrder = !/&|[<>]\(/.test(source);
    const run = (): [Seen, Seen] => [this.#run(shell, source, inOrder), this.#run(shell, text, inOrder)];
    // Two that run at a time may do so one way or the other.
    const tries = inOrder && !source.includes('|') ? 1 : 4;
    let seen = run();
    for (let i = 1; i < tries && !isDeepStrictEqual(...seen); i++) seen = run();
    return seen;
  }

  #run(shell: 'bash' | 'dash', script: string, inOrder: boolean): Seen {
    this.#prepare();
    // Everything that writes into the pipes is waited for, also in the background.
    const { status, pid, stdout, stderr } = spawnSync(`/bin/${shell}`, ['-c', script], {
      cwd: this.workspace,
      env: { PATH: this.#path, HOME: this.#home, LC_ALL: 'C.UTF-8', FUNCNEST: '5', TZ: 'UTC' },
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      encoding: 'latin1',
    });
    const told = (text: string) => {
      // Elsewhere the same digits are a size, or a date.
      const plain = script.includes('$$') ? text.replaceAll(new RegExp(`\\b${pid}\\b`, 'g'), 'PID') : text;
      return inOrder ? plain : sortedLines(plain);
    };
    // Lines of the script and times are not what a message says.
    const errors = told(stderr.replaceAll(/(?:line )?\d+: /g, '').replaceAll(/\d+/g, 'N'));
    this.#isUntouched = this.#look() === this.#untouched;
    return { output: told(stdout), errors, status, files: filesIn(dirname(this.workspace)) };
  }

  #prepare(): void {
    if (this.#isUntouched) return;
    rmSync(dirname(this.workspace), { recursive: true, force: true });
    mkdirSync(this.#home, { recursive: true });
    for (const [name, content] of Object.entries(this.#files)) {
      const file = join(this.workspace, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    for (const name of readdirSync(this.workspace, { recursive: true, encoding: 'utf8' }))
      utimesSync(join(this.workspace, name), LONG_AGO, LONG_AGO);
    this.#untouched = this.#look();
  }

  /** Changes of any kind change this, but for times of reading. */
  #look(): string {
    const folder = dirname(this.workspace);
    const names = [folder, this.#home].flatMap((top) => [
      top,
      ...readdirSync(top, { recursive: true, encoding: 'utf8' }).map((name) => join(top, name)),
    ]);
    return names
      .map((name) => {
        const { ino, mode, size, mtimeMs, ctimeMs } = lstatSync(name);
        return [name, ino, mode, size, mtimeMs, ctimeMs].join(' ');
      })
      .join('\n');
  }
}

function sortedLines(text: string): string {
  return text.split('\n').toSorted().join('\n');
}

function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name);
      return [name, statSync(path).isFile() ? readFileSync(path, 'latin1') : 'a folder'];
    }),
  );
}
