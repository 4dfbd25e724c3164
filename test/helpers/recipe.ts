import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { useAction } from './composite-action.js';
import { interpolate, type Contexts } from './github-expressions.js';
import type { Script } from './gemini-server.mjs';
import { runGits } from './repository.js';
import { REPOSITORY } from './run-cli.js';
import { runSteps, wanted, type Step, type StepEnd, type StepsEnd } from './runner-steps.js';
import { place, serve, type Server } from './served.js';

export const RECIPES = join(REPOSITORY, 'docs/recipes');
const WITH_POLICY = ['policy.yaml', 'prompt.md', 'batch.yaml', 'answer.schema.json'];

interface Job {
  readonly if?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
}

export interface Workflow {
  readonly on: unknown;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

export function readWorkflow(recipe: string): Workflow {
  return parse(readFileSync(join(RECIPES, recipe, 'workflow.yml'), 'utf8')) as Workflow;
}

export interface JobEnd extends StepsEnd {
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * A repository with a recipe in it, on a GitHub that is a folder: checkouts are clones, artifacts are files, `gh` writes
 * down what it was told. Bosun and git are real.
 */
export class RecipeWorld {
  /** The repository that jobs check out, and push to. */
  readonly origin: string;
  readonly server: Server;
  readonly #root: string;
  readonly #recipe: string;

  private constructor(recipe: string, root: string, server: Server) {
    this.#recipe = recipe;
    this.#root = root;
    this.origin = join(root, 'origin.git');
    this.server = server;
  }

  static async of(
    recipe: string,
    files: Readonly<Record<string, string>>,
    script: Script,
  ): Promise<RecipeWorld> {
    const world = new RecipeWorld(recipe, place().root, await serve(script));
    mkdirSync(join(world.#root, 'artifacts'));
    // Nothing is installed: the projects have no packages, and Bosun is here already.
    world.#program('npm', [`if [ "$1" = ci ]; then exit 0; fi`, `PATH=\${PATH#*:} exec npm "$@"`]);
    world.#program('gh', [
      `{ echo "$GH_TOKEN: $*"; for word; do if [ -f "$word" ]; then cat "$word"; fi; done; } >> '${world.#root}/gh.log'`,
      `if [ -f '${world.#root}/gh/'"$1-$2" ]; then cat '${world.#root}/gh/'"$1-$2"; fi`,
    ]);
    world.commit('Begin', { ...files, ...world.#recipeFiles() });
    return world;
  }

  /** A program that steps find before those of the machine. */
  #program(name: string, lines: readonly string[]): void {
    mkdirSync(join(this.#root, 'bin'), { recursive: true });
    writeFileSync(join(this.#root, 'bin', name), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
  }

  #recipeFiles(): Record<string, string> {
    const folder = join(RECIPES, this.#recipe);
    const files = readdirSync(folder).filter((name) => WITH_POLICY.includes(name));
    return Object.fromEntries(
      files.map((name) => [
        `.github/bosun/${this.#recipe}/${name}`,
        readFileSync(join(folder, name), 'utf8'),
      ]),
    );
  }

  /** Commits files to the main branch. */
  commit(message: string, files: Readonly<Record<string, string>>): void {
    const tree = join(this.#root, 'tree');
    mkdirSync(tree, { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, name)), { recursive: true });
      writeFileSync(join(tree, name), content);
    }
    writeFileSync(join(this.#root, 'message'), message);
    const [isNew, quoted] = [!existsSync(this.origin), (path: string) => `'${path}'`];
    runGits(tree, [
      ...(isNew ? ['init -q --template= -b main'] : []),
      ...['add -A', `commit -qF ${quoted(join(this.#root, 'message'))}`],
      isNew ? `clone -q --bare --template= . ${quoted(this.origin)}` : `push -q ${quoted(this.origin)} main`,
    ]);
  }

  git(...args: string[]): string {
    return execFileSync('git', ['-C', this.origin, ...args], { encoding: 'utf8' });
  }

  /** What `gh COMMAND SUBCOMMAND` prints. */
  ghPrints(command: string, text: string): void {
    mkdirSync(join(this.#root, 'gh'), { recursive: true });
    writeFileSync(join(this.#root, 'gh', command), text);
  }

  /** Whatever `gh` was told, with the files it was given. */
  get told(): string {
    return readFileSync(join(this.#root, 'gh.log'), 'utf8');
  }

  /** Runs a job on a fresh machine. Undefined if its condition does not hold. */
  async job(
    name: string,
    contexts: Contexts,
    workflow = readWorkflow(this.#recipe),
  ): Promise<JobEnd | undefined> {
    const job = workflow.jobs[name];
    if (!job?.steps) throw new Error(`there is no job ${name} with steps`);
    const all = {
      ...contexts,
      secrets: { GEMINI_API_KEY: 'the-model-key-1234', ...(contexts['secrets'] as object) },
      github: { token: `token-of-${name}`, ...(contexts['github'] as object) },
    };
    if (!wanted(job.if, all, true)) return undefined;
    const where = place();
    const env = {
      PATH: `${this.#root}/bin:${process.env['PATH']}`,
      GOOGLE_GEMINI_BASE_URL: this.server.url,
      GITHUB_EVENT_NAME: Object.keys(workflow.on as object)[0] ?? '',
    };
    const uses = (action: string, inputs: Readonly<Record<string, string>>) =>
      action.startsWith('your-org/bosun@')
        ? useAction({ where, inputs, env })
        : this.#play(basename(action.split('@')[0] ?? ''), inputs, where.workspace);
    const end = await runSteps(job.steps, { where, env, contexts: all, uses });
    const outputs = Object.entries(job.outputs ?? {}).map(([key, text]) => [
      key,
      interpolate(text, end.contexts),
    ]);
    return { ...end, outputs: Object.fromEntries(outputs) };
  }

  /** Does what the actions of others do, as far as recipes use them. */
  #play(action: string, inputs: Readonly<Record<string, string>>, workspace: string): StepEnd {
    const target = join(workspace, inputs['path'] ?? '');
    const artifact = join(this.#root, 'artifacts', inputs['name'] ?? '');
    switch (action) {
      case 'checkout':
        if (inputs['repository']) symlinkSync(REPOSITORY, target);
        else execFileSync('git', ['clone', '--quiet', '--template=', this.origin, target], { stdio: 'pipe' });
        return { code: 0 };
      case 'setup-node':
        return { code: 0 };
      case 'upload-artifact': {
        const source = inputs['path']?.startsWith('/') ? inputs['path'] : target;
        const isFile = statSync(source).isFile();
        cpSync(source, isFile ? join(artifact, basename(source)) : artifact, { recursive: true });
        return { code: 0 };
      }
      case 'download-artifact':
        cpSync(artifact, target, { recursive: true });
        return { code: 0 };
      default:
        throw new Error(`a recipe uses ${action}`);
    }
  }
}
