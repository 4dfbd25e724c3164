import { join } from 'node:path';
import { globMatcher } from '../lib/glob.js';
import type { Path } from '../lib/yaml.js';
import type { DetailedCommand } from '../protocol/decision.js';
import type { Rule } from './document.js';
import { ruleIndex } from './keys/rules.js';
import { policyProblem } from './place.js';
import type { ShellRule } from './shell/context.js';
import { readSource } from './source.js';

/** Rules carry their own tests: a policy whose examples fail does not load. */
export async function checkExamples(rules: readonly Rule[]): Promise<void> {
  for (const rule of rules) {
    const missing = await missingIn(rule);
    if (rule.exact) await checkExact(rule, missing);
    for (const [i, example] of rule.match.entries()) {
      const why = missing(example);
      if (why !== undefined)
        throw await wrong(
          rule,
          ['match', i],
          `\`match\`: it does not match ${JSON.stringify(example)}: ${why}. ${ALONE}`,
        );
    }
    const caught = rule.notMatch.find((example) => missing(example) === undefined);
    if (caught !== undefined)
      throw await wrong(
        rule,
        ['not_match', rule.notMatch.indexOf(caught)],
        `\`not_match\`: it matches ${JSON.stringify(caught)}. ${ALONE}`,
      );
  }
}

/** A command that can never be exactly these words, as when xargs adds more, needs another rule. */
async function checkExact(rule: Rule, missing: Missing): Promise<void> {
  for (const [i, words] of (rule.commands ?? []).entries()) {
    const why = missing(words.join(' '));
    if (why === undefined) continue;
    const message = `\`exact\`: no command is allowed by just \`${words.join(' ')}\` (${why}). Leave \`exact\` out, or name another command`;
    throw await wrong(rule, ['command', i], message);
  }
}

const ALONE = 'Examples are tried against their rule alone';

/** Why an example does not fit; undefined if it does. */
type Missing = (example: string) => string | undefined;

/** How examples of a rule are tested. */
export async function missingIn(rule: Rule): Promise<Missing> {
  return rule.paths ? pathMatcher(rule) : commandMatcher(rule);
}

function pathMatcher({ paths = [], decision }: Rule): Missing {
  const fits = globMatcher(paths, { ignoreCase: decision !== 'allow' });
  return (path) => (fits(path) ? undefined : `it is none of ${paths.map((one) => `\`${one}\``).join(', ')}`);
}

/** Points to the example itself, whose place is looked up only when reported. */
async function wrong({ reference: { file, id } }: Rule, path: Path, message: string): Promise<Error> {
  const source = await readSource(file);
  return policyProblem(source, ['rules', ruleIndex(source, id), ...path], `rule \`${id}\`: ${message}`);
}

/** An allow matches a line if it covers all of it; a deny or an ask matches if it catches any of it. */
async function commandMatcher(rule: Rule): Promise<Missing> {
  const { judgeLine, readScript } = await import('./shell/index.js');
  const isAllow = rule.decision === 'allow';
  const shellRule: ShellRule = {
    reference: rule.reference,
    decision: rule.decision,
    reason: rule.reason,
    patterns: rule.commands,
    ...(rule.exact && { exact: true }),
    ...(rule.directory !== undefined && { directory: rule.directory }),
  };
  // If a rule is about a folder, its examples run there, in a workspace that does not exist.
  const workspace = rule.directory === undefined ? '/' : NOWHERE;
  const allowed = { decision: 'allow', rule: null, reason: 'not asked here' } as const;
  return (line) => {
    const { decision, commands, reason } = judgeLine(line, {
      rules: [shellRule],
      otherwise: { decision: isAllow ? 'deny' : 'allow', reason: NOT_THIS },
      hasFreeWords: true,
      directory: join(workspace, rule.directory ?? '.'),
      workspace,
      home: undefined,
      dialect: 'bash',
      read: readScript,
      decideFile: () => allowed,
      operandFault: () => undefined,
      patternFault: () => undefined,
    });
    const fits = isAllow
      ? decision === 'allow' && commands.some(({ rule: by }) => by !== null)
      : decision === rule.decision;
    if (fits) return undefined;
    if (isAllow && decision === 'allow') return 'it needs no rule';
    const said = reason.replace(`; ${NOT_THIS}`, '');
    return said === NOT_THIS || decision === 'allow' ? noneOf(rule, commands) : said;
  };
}

const NOWHERE = '/.bosun-examples';
const NOT_THIS = 'not this rule';

/** The word at which no pattern matches any more. */
function noneOf(
  { commands: patterns = [], exact = false }: Rule,
  commands: readonly DetailedCommand[],
): string {
  const { words } = commands.find(({ decision }) => decision !== 'allow') ?? commands[0] ?? { words: [] };
  const near = patterns.find(([first]) => first === words[0]);
  const at = near ? words.findIndex((word, i) => word !== near[i]) : -1;
  if (exact && near && at >= near.length) return `it is \`exact\`, and \`${words[at]}\` is an extra word`;
  if (near && at > 0) return `\`${words[at]}\` is where the rule has \`${near[at] ?? ''}\``;
  return `none of its commands begins with \`${words[0] ?? ''}\``;
}
