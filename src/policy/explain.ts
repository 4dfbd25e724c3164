import type { CommandDecision, RuleReference, Verdict } from '../protocol/decision.js';

const MARKS: Readonly<Record<Verdict, string>> = { allow: '✓', ask: '?', deny: '✗' };

export interface Explained {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly decision: Verdict;
  readonly rule: RuleReference | null;
  readonly reason: string;
  readonly commands?: readonly CommandDecision[];
}

/** A decision for people: what was decided, by what, and the smallest rule that would change it. */
export function explain(call: Explained): string {
  const lines = [`${MARKS[call.decision]} ${call.decision}: ${call.reason}${source(call.rule)}`];
  for (const { words, decision, rule, reason } of call.commands ?? []) {
    const shown = words.length > 0 ? words.join(' ') : '(assignment or redirection)';
    lines.push(`  ${MARKS[decision]} ${shown}`, `      ${reason}${source(rule)}`);
  }
  const change = call.decision === 'allow' ? [] : suggestion(call);
  if (change.length > 0) lines.push('', 'To allow it:', ...change.map((line) => `  ${line}`));
  return `${lines.join('\n')}\n`;
}

function source(rule: RuleReference | null): string {
  return rule ? ` [rule ${rule.id}, ${rule.file}:${rule.line}]` : '';
}

function suggestion({ tool, args, rule, commands, reason }: Explained): string[] {
  if (rule)
    return [
      `# rule ${rule.id} in ${rule.file}, line ${rule.line}, says ${JSON.stringify(reason)}: change it there`,
    ];
  const path = args['file_path'] ?? args['path'];
  if (tool !== 'run_shell_command') {
    const where = typeof path === 'string' ? [`  path: [${JSON.stringify(path)}]`] : [];
    return [
      'rules:',
      `  - id: my-rule`,
      `    tool: ${tool}`,
      ...where.map((line) => `  ${line}`),
      '    decision: allow',
    ];
  }
  const patterns = [
    ...new Set((commands ?? []).filter(({ decision }) => decision !== 'allow').map(patternFor)),
  ].filter(Boolean);
  if (patterns.length === 0)
    return ['# it cannot be allowed by a rule as it is written; write it more plainly'];
  return [
    'rules:',
    '  - id: my-commands',
    '    tool: run_shell_command',
    `    command: [${patterns.map((pattern) => JSON.stringify(pattern)).join(', ')}]`,
    '    decision: allow',
  ];
}

/** The program and its subcommand, if those are plain words. */
function patternFor({ words }: CommandDecision): string {
  const [program = '', next = ''] = words;
  if (!/^[\w./-]+$/.test(program)) return '';
  return /^[a-z][\w:-]*$/.test(next) ? `${program} ${next}` : program;
}
