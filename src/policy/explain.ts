import type { DetailedCommand, RuleReference, Verdict } from '../protocol/decision.js';

const MARKS: Readonly<Record<Verdict, string>> = { allow: '✓', ask: '?', deny: '✗' };

export interface Explained {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly decision: Verdict;
  readonly rule: RuleReference | null;
  readonly reason: string;
  /** The mode, where its default decided. */
  readonly default?: string;
  readonly commands?: readonly DetailedCommand[];
}

/** A decision for people: what was decided, by what, and the smallest rule that would change it. */
export function explain(call: Explained): string {
  const lines = [`${MARKS[call.decision]} ${call.decision}: ${call.reason}${source(call.rule)}`];
  lines.push(...tree(call.commands ?? [], '  '));
  const change = call.decision === 'allow' ? [] : suggestion(call);
  if (change.length > 0) lines.push('', 'To allow it:', ...change.map((line) => `  ${line}`));
  return `${lines.join('\n')}\n`;
}

/** The commands of a line, and under each the commands of a script that it runs. */
function tree(commands: readonly DetailedCommand[], indent: string): string[] {
  return commands.flatMap(({ words, decision, rule, reason, inner = [] }) => [
    `${indent}${MARKS[decision]} ${words.length > 0 ? words.join(' ') : '(assignment or redirection)'}`,
    `${indent}    ${reason}${source(rule)}`,
    ...tree(inner, `${indent}  `),
  ]);
}

function source(rule: RuleReference | null): string {
  return rule ? ` [rule ${rule.id}, ${rule.file}:${rule.line}]` : '';
}

function suggestion(call: Explained): string[] {
  const { tool, args, rule, commands = [], reason } = call;
  if (rule)
    return [
      `# rule ${rule.id} in ${rule.file}, line ${rule.line}, says ${JSON.stringify(reason)}: change it there`,
    ];
  if (tool === 'save_memory') return ['memory: { file: .bosun/memory.md }'];
  if (tool === 'web_fetch' && call.default === undefined)
    return ['# no rule decided this, but the boundary of the network: see network.allow in the policy'];
  const path = args['file_path'] ?? args['path'];
  if (tool !== 'run_shell_command') {
    return [
      'rules:',
      ...ruleLines('my-rule', tool, typeof path === 'string' ? `path: [${JSON.stringify(path)}]` : undefined),
    ];
  }
  const refused = leaves(commands).filter(({ decision }) => decision !== 'allow');
  const files = refused.flatMap(({ file }) => file ?? []);
  const patterns = quotedList(refused.filter(({ file }) => !file).map(patternFor));
  const lines = [
    ...(patterns ? ruleLines('my-commands', tool, `command: [${patterns}]`) : []),
    ...(['write', 'read'] as const).flatMap((access) => {
      const paths = quotedList(files.filter((file) => file.access === access).map((file) => file.path));
      return paths
        ? ruleLines(`my-${access}s`, access === 'write' ? 'write_file' : 'read_file', `path: [${paths}]`)
        : [];
    }),
  ];
  return lines.length > 0
    ? ['rules:', ...lines]
    : ['# it cannot be allowed as it is written; write it more plainly'];
}

function ruleLines(id: string, tool: string, what: string | undefined): string[] {
  return [`  - id: ${id}`, `    tool: ${tool}`, ...(what ? [`    ${what}`] : []), '    decision: allow'];
}

function quotedList(values: readonly string[]): string {
  return [...new Set(values)]
    .filter(Boolean)
    .map((value) => JSON.stringify(value))
    .join(', ');
}

/** The commands that decide: those inside a script instead of the shell around it. */
function leaves(commands: readonly DetailedCommand[]): DetailedCommand[] {
  return commands.flatMap((command) =>
    command.inner && command.inner.length > 0 ? leaves(command.inner) : [command],
  );
}

/** The program and its subcommand, if those are plain words. */
function patternFor({ words }: DetailedCommand): string {
  const [program = '', next = ''] = words;
  if (!/^[\w./-]+$/.test(program)) return '';
  return /^[a-z][\w:-]*$/.test(next) ? `${program} ${next}` : program;
}
