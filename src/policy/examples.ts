import { globMatcher } from '../lib/glob.js';
import { configProblem } from '../protocol/problem.js';
import type { Rule } from './document.js';
import type { ShellRule } from './shell/context.js';

/** Rules carry their own tests: a policy whose examples fail does not load. */
export async function checkExamples(rules: readonly Rule[]): Promise<void> {
  for (const rule of rules) {
    if (rule.match.length + rule.notMatch.length === 0) continue;
    const fits = rule.paths
      ? globMatcher(rule.paths, { ignoreCase: rule.decision !== 'allow' })
      : await commandMatcher(rule);
    const missed = rule.match.find((example) => !fits(example));
    if (missed !== undefined) throw wrong(rule, `\`match\`: it does not fit ${JSON.stringify(missed)}`);
    const caught = rule.notMatch.find(fits);
    if (caught !== undefined) throw wrong(rule, `\`not_match\`: it does fit ${JSON.stringify(caught)}`);
  }
}

function wrong({ reference: { file, line, id } }: Rule, message: string): Error {
  return configProblem('policy', `${file}:${line}:1: rule \`${id}\`: ${message}`);
}

/** An allow fits a line if it covers all of it; a deny or an ask fits if it catches any of it. */
async function commandMatcher(rule: Rule): Promise<(line: string) => boolean> {
  const { judgeLine, readScript } = await import('./shell/index.js');
  const isAllow = rule.decision === 'allow';
  const shellRule: ShellRule = {
    reference: rule.reference,
    decision: rule.decision,
    reason: rule.reason,
    patterns: rule.commands,
  };
  const allowed = { decision: 'allow', rule: null, reason: 'not asked here' } as const;
  return (line) => {
    const { decision, commands } = judgeLine(line, {
      rules: [shellRule],
      otherwise: { decision: isAllow ? 'deny' : 'allow', reason: 'not this rule' },
      hasFreeWords: true,
      directory: '/',
      workspace: '/',
      home: undefined,
      dialect: 'bash',
      read: readScript,
      decideFile: () => allowed,
      operandFault: () => undefined,
      patternFault: () => undefined,
    });
    if (isAllow) return decision === 'allow' && commands.some(({ rule: by }) => by !== null);
    return decision === rule.decision;
  };
}
