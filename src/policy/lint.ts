import { wordsOf } from '../lib/text.js';
import { isForeign, type ServerDeclaration } from '../protocol/source.js';
import type { PolicyDocument, Rule } from './document.js';

export interface Warning {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly rule: string;
  readonly message: string;
}

const INTERPRETERS = new Set(
  wordsOf(
    `bash sh dash zsh python python2 python3 node deno bun ruby perl php lua awk gawk osascript pwsh ssh docker podman kubectl make
     sqlite3 psql mysql ed vi vim nvim emacs dc m4 gdb`,
  ),
);
const PACKAGE_MANAGERS = new Set(
  wordsOf(`npm npx yarn pnpm pip pip3 pipx uv cargo gem bundle composer go brew apt apt-get mvn gradle`),
);
const MANY_HEADED = new Set(
  wordsOf(`git gh find xargs env sudo eval exec tar rsync curl wget sed tee dd cp mv`),
);

/** Rules that give more than they seem to. */
export function lint({ rules, mode, sources, network, servers }: PolicyDocument): Warning[] {
  const warnings = rules.filter(({ decision }) => decision === 'allow').flatMap(lintRule);
  warnings.push(...servers.flatMap(lintServer));
  const whole = (message: string): Warning => ({
    file: sources[0]?.file ?? '',
    line: 1,
    column: 1,
    rule: '',
    message,
  });
  const hasDeny = rules.some(({ decision, commands }) => decision === 'deny' && commands);
  if (mode === 'yolo' && !hasDeny) {
    warnings.push(whole('mode yolo without a deny rule: any command runs'));
  }
  if (network?.allow.some(({ covers }) => covers === 'any')) {
    warnings.push(whole('network.allow has `*`: whatever the model knows can be told to any public host'));
  }
  return warnings;
}

function lintRule(rule: Rule): Warning[] {
  const { file, line, id } = rule.reference;
  const warn = (message: string): Warning => ({
    file,
    line,
    column: 1,
    rule: id,
    message: `rule ${id}: ${message}`,
  });
  if (rule.tools.includes('run_shell_command') && !rule.commands) return [warn('it allows every command')];
  const warnings = (rule.commands ?? []).flatMap((words) => {
    const why = broad(words);
    return why === undefined ? [] : [warn(`\`${words.join(' ')}\` ${why}`)];
  });
  if (rule.commands && rule.match.length === 0)
    warnings.push(warn('it has no examples (`match`) that show what it means'));
  for (const tool of rule.tools.filter((one) => isForeign(one) && /[:/_]\*+$/.test(one)))
    warnings.push(warn(`\`${tool}\` allows whatever tools there are, now and later`));
  for (const path of rule.paths ?? []) {
    if (path === '**' || path === '*' || path === '**/*')
      warnings.push(warn(`the path ${path} is everything`));
  }
  return warnings;
}

function lintServer({ name, place, trust, includeTools }: ServerDeclaration): Warning[] {
  if (!trust || includeTools) return [];
  const [, file = '', line, column] = /^(.*):(\d+):(\d+)$/s.exec(place) ?? [];
  const message = `server ${name}: \`trust\` without \`include_tools\` allows whatever tools it has, now and later`;
  return [{ file, line: Number(line), column: Number(column), rule: '', message }];
}

function broad([program = '', ...more]: readonly string[]): string | undefined {
  if (more.length > 0) return undefined;
  if (INTERPRETERS.has(program)) return 'runs whatever it is given: name the script, too';
  if (PACKAGE_MANAGERS.has(program)) return 'installs and runs code from elsewhere: name the subcommand, too';
  if (MANY_HEADED.has(program))
    return 'does far more than one thing: name the subcommand or the options, too';
  return undefined;
}
