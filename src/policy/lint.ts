import { wordsOf } from '../lib/text.js';
import type { Path, FilePosition } from '../lib/yaml.js';
import { isForeign, type ServerDeclaration } from '../protocol/source.js';
import { allowsNothing } from './allows-nothing.js';
import type { PolicyDocument, Rule } from './document.js';
import { takesCommand } from './tool-names.js';

export interface Warning {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly rule: string;
  readonly message: string;
}

/** The place of something in a file; undefined if unknown. */
export type Locate = (file: string, path: Path) => FilePosition | undefined;

/** What an allow never covers keeps these in bounds: they may be wanted, but are not recommended. */
const BOUNDED = new Set(wordsOf('awk gawk make find sed mvn gradle'));

/** Whether a pattern covers much that nobody has seen. */
export function isWide([program = '', ...more]: readonly string[]): boolean {
  return more.length === 0 && BOUNDED.has(program);
}

export const INTERPRETERS = new Set(
  wordsOf(
    `bash sh dash zsh python python2 python3 node deno bun ruby perl php lua osascript pwsh ssh docker podman kubectl
     sqlite3 psql mysql ed vi vim nvim emacs dc m4 gdb`,
  ),
);
const PACKAGE_MANAGERS = new Set(
  wordsOf(`npm npx yarn pnpm pip pip3 pipx uv cargo gem bundle composer go brew apt apt-get`),
);
const MANY_HEADED = new Set(wordsOf(`git gh xargs env sudo eval exec tar rsync curl wget tee dd cp mv`));

/** Rules that allow more than they seem to, and policies that allow nothing. */
export function lint(document: PolicyDocument, locate: Locate = () => undefined): Warning[] {
  const { rules, mode, sources, network, servers } = document;
  const warnings = rules
    .filter(({ decision }) => decision === 'allow')
    .flatMap((rule) => lintRule(rule, locate));
  warnings.push(...servers.flatMap(lintServer));
  const file = sources[0]?.file ?? '';
  const whole = (message: string, path: Path = []): Warning => ({
    file,
    ...(locate(file, path) ?? { line: 1, column: 1 }),
    rule: '',
    message,
  });
  const hasDeny = rules.some(({ decision, commands }) => decision === 'deny' && commands);
  if (mode === 'yolo' && !hasDeny) {
    warnings.push(whole('mode yolo without a deny rule: any command runs', ['mode']));
  }
  const any = network?.allow.findIndex(({ covers }) => covers === 'any') ?? -1;
  if (any >= 0) {
    const message = 'network.allow has `*`: the model can send whatever it knows to any public host';
    warnings.push(whole(message, ['network', 'allow', any]));
  }
  const nothing = allowsNothing(document);
  if (nothing !== undefined) warnings.push(whole(nothing));
  return warnings;
}

function lintRule(rule: Rule, locate: Locate): Warning[] {
  const { file, line, id } = rule.reference;
  const warn = (message: string, ...path: Path): Warning => ({
    file,
    ...(locate(file, ['rules', id, ...path]) ?? { line, column: 1 }),
    rule: id,
    message: `rule ${id}: ${message}`,
  });
  if (rule.tools.some(takesCommand) && !rule.commands) return [warn('it allows every command', 'tool')];
  const warnings = (rule.commands ?? []).flatMap((words, i) => {
    const why = broad(words, rule.exact);
    return why === undefined ? [] : [warn(`\`${words.join(' ')}\` ${why}`, 'command', i)];
  });
  if (rule.commands && rule.match.length === 0)
    warnings.push(warn('it has no examples (`match`) that show what it means'));
  for (const tool of rule.tools.filter((one) => isForeign(one) && /[:/_]\*+$/.test(one)))
    warnings.push(warn(`\`${tool}\` allows whatever tools there are, now and later`, 'tool'));
  for (const [i, path] of (rule.paths ?? []).entries()) {
    if (path === '**' || path === '*' || path === '**/*')
      warnings.push(warn(`the path ${path} is everything`, 'path', i));
  }
  return warnings;
}

function lintServer({ name, place, trust, includeTools }: ServerDeclaration): Warning[] {
  if (!trust || includeTools) return [];
  const [, file = '', line, column] = /^(.*):(\d+):(\d+)$/s.exec(place) ?? [];
  const message = `server ${name}: \`trust\` without \`include_tools\` allows whatever tools it has, now and later`;
  return [{ file, line: Number(line), column: Number(column), rule: '', message }];
}

function broad([program = '', ...more]: readonly string[], isExact = false): string | undefined {
  if (more.length > 0) return undefined;
  if (INTERPRETERS.has(program)) return 'runs whatever it is given: name the script, too';
  if (PACKAGE_MANAGERS.has(program)) return 'installs and runs code from elsewhere: name the subcommand, too';
  // On their own these print how they are used, and little else.
  if (MANY_HEADED.has(program) && !isExact)
    return 'does far more than one thing: name the subcommand or the options, too';
  return undefined;
}
