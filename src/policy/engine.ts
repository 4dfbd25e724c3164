import { resolve } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { braceAlternatives, expandPattern, globMatcher, segmentMatcher } from '../lib/glob.js';
import { pathIn, realPath } from '../lib/real-path.js';
import { wordsOf } from '../lib/text.js';
import { urlWords } from '../lib/url-words.js';
import type { Decision, DecisionRequest, OnAsk, Policy, PolicyAnswer } from '../protocol/decision.js';
import type { Kind } from '../protocol/kind.js';
import { agreed } from './agreed.js';
import type { Rule } from './document.js';
import type { RuleSet } from './fold.js';
import { byMode, modeReason, modeSummary } from './modes.js';
import { hostList, networkGuard, type NetworkSettings } from './network.js';
import { PathScope, protectedMessage, type ScopeSettings } from './path-scope.js';
import type { Evidence, ShellContext, ShellRule } from './shell/context.js';
import type { Dialect } from './shell/model.js';
import { foreignGate } from './foreign.js';
import { strictest } from './strictest.js';
import { means, takesCommand, traitsOf } from './tool-names.js';
import { combineDecisions } from './combine-decisions.js';

export interface EngineSettings extends ScopeSettings {
  readonly home: string | undefined;
  /** The run has untrusted input. */
  readonly untrusted: boolean;
  /** The grammar of the shell that runs command lines; bash unless told. */
  readonly dialect?: () => Dialect;
  /** Whether commands cannot open what the policy hides, since a sandbox keeps it from them. */
  readonly hiddenBySandbox?: () => boolean;
  /** The environment of commands, as far as it is known. */
  readonly variable?: (name: string) => string | undefined;
}

/** One policy, ready to decide. It is fixed: nothing that a model does changes it. */
export function createEngine(document: RuleSet, settings: EngineSettings): Policy {
  const { mode } = document;
  const scope = new PathScope(settings, document.workspace);
  const foreign = foreignGate(document);
  const network = networkGuard(document.network);
  const rules = document.rules
    .filter(({ when }) => when === undefined || settings.untrusted)
    .map((rule) => ({ rule, fits: pathMatcher(rule, settings.workspace) }));
  const shellRules: ShellRule[] = rules
    .filter(({ rule }) => rule.tools.some(takesCommand))
    .map(({ rule: { reference, decision, reason, commands, parallel } }) => ({
      reference,
      decision,
      reason,
      patterns: commands,
      ...(parallel !== undefined && { parallel }),
    }));

  const deniesCommands = shellRules.some(({ decision, patterns }) => decision === 'deny' && patterns);
  /** Without a rule that allows commands, not even the harmless words of the shell are free. */
  const allowsCommands = mode === 'yolo' || shellRules.some(({ decision }) => decision === 'allow');
  const dialect = () => settings.dialect?.() ?? 'bash';

  const hiding = rules
    .filter(({ rule }) => rule.paths && rule.decision !== 'allow')
    .map(({ rule: { tools, paths = [] } }) => ({ tools, hides: globMatcher(paths, { ignoreCase: true }) }));

  async function decide(request: DecisionRequest): Promise<PolicyAnswer> {
    const { tool, kind, paths } = request;
    const { commandIn } = traitsOf(tool);
    if (isLeftOut(tool))
      return {
        decision: 'deny',
        rule: null,
        reason: `the policy leaves ${tool} out (tools.offer, tools.exclude)`,
      };
    const faults = paths.map((use) => scope.fault(use)).filter((fault) => fault !== undefined);
    for (const fault of faults) if ('outside' in fault) return fault;
    for (const fault of faults)
      if ('denied' in fault) return { decision: 'deny', rule: null, reason: fault.denied };
    const unreachable = networkFault(request);
    if (unreachable) return { decision: 'deny', rule: null, reason: unreachable };
    const answer =
      commandIn !== undefined
        ? await decideLine(request, commandIn)
        : decideCall(
            tool,
            kind,
            paths.map(({ path }) => path),
            request.claimsToRead,
          );
    return answer.decision === 'ask' ? { ...answer, onAsk: document.onAsk } : answer;
  }

  /** What a call would reach that it must not, by its URLs as they are written. */
  function networkFault({ tool, params }: DecisionRequest): string | undefined {
    const { urlsIn } = traitsOf(tool);
    if (urlsIn === undefined) return undefined;
    if (!document.network?.allow.length) return 'the policy allows no host (network.allow)';
    if (params[urlsIn] === undefined) return undefined;
    const words = urlWords(String(params[urlsIn]));
    if (!words.ok) return words.fault;
    return words.urls.map((url) => network.fault(url)).find((fault) => fault !== undefined);
  }

  function decideCall(tool: string, kind: Kind, paths: readonly string[], claimsToRead = false): Decision {
    if (lacksMemory(tool)) return { decision: 'deny', rule: null, reason: 'the policy names no memory.file' };
    const fault = foreign.fault(tool);
    if (fault) return { decision: 'deny', rule: null, reason: fault };
    const about = rules
      .filter(({ rule, fits }) => isAbout(rule, tool) && fits(paths))
      .map(({ rule }) => rule);
    const says = [...about.map((rule) => rule.parallel), foreign.parallel(tool, claimsToRead)];
    const overlap = agreed(says) ? ({ parallel: true } as const) : {};
    const evidence = about.map(({ decision, reference, reason }) => ({ decision, rule: reference, reason }));
    if (evidence.length > 0) return { ...strictest(evidence), ...overlap };
    const trust = foreign.trust(tool);
    if (trust) return { decision: 'allow', rule: null, reason: trust, ...overlap };
    const ours = foreign.kind(tool) ?? kind;
    const reason = modeReason(mode, tool, ours);
    return { decision: byMode(mode, ours), rule: null, reason, default: mode, ...overlap };
  }

  /** Remembering writes a file in every mode: only the policy itself can allow that, by naming it. */
  function lacksMemory(tool: string): boolean {
    return traitsOf(tool).needs === 'memory' && !document.memory;
  }

  async function decideLine(request: DecisionRequest, commandIn: string): Promise<Decision> {
    const { judgeLine, lookFor, readScript } = await import('./shell/index.js');
    const { tool, params, paths } = request;
    lookFor(request);
    const otherwise = {
      decision: byMode(mode, 'execute'),
      reason: modeReason(mode, tool, 'execute'),
    };
    const context: ShellContext = {
      rules: shellRules,
      otherwise,
      hasFreeWords: allowsCommands,
      directory: realPath(resolve(settings.workspace, paths[0]?.path ?? '.')),
      workspace: settings.workspace,
      home: settings.home,
      dialect: dialect(),
      read: readScript,
      decideFile,
      operandFault,
      patternFault,
      ...(mode !== 'yolo' && !settings.hiddenBySandbox?.() && { guard }),
    };
    const line = judgeLine(String(params[commandIn]), context);
    const { decision, rule, reason, commands } = line;
    return {
      decision,
      rule,
      reason,
      ...(rule === null && { default: mode }),
      commands,
      ...(line.parallel && { parallel: true }),
    };
  }

  async function shellText(line: string): Promise<string | undefined> {
    if (mode === 'yolo' && !deniesCommands) return line;
    const { readScript } = await import('./shell/index.js');
    const reading = readScript(line, false, dialect());
    return reading.ok ? reading.script.text : undefined;
  }

  const guard = {
    variable: (name: string) => settings.variable?.(name) ?? (name === 'HOME' ? settings.home : undefined),
    hides: (path: string) => scope.isSecret(path),
    confined: document.shell.readScope === 'workspace',
  };

  /** A redirection, like the tool that it replaces. */
  function decideFile(access: 'read' | 'write', path: string): Evidence {
    const fault = scope.fault({ path, access });
    if (fault)
      return { decision: 'deny', rule: null, reason: 'outside' in fault ? fault.outside : fault.denied };
    return access === 'write'
      ? decideCall('write_file', 'edit', [path])
      : decideCall('read_file', 'read', [path]);
  }

  function operandFault(access: 'read' | 'write', path: string): string | undefined {
    const real = attempt(() => realPath(path)) ?? path;
    if (scope.isSecret(real) || scope.isSecret(path)) return `${path} is a file that holds secrets`;
    if (access === 'write' && scope.isInside(real)) {
      const protection = scope.writeFault(real) ?? (scope.holdsProtected(real) ? HOLDS_PROTECTED : undefined);
      if (protection !== undefined) return protectedMessage(path, protection);
    }
    const confined = access === 'write' ? mode !== 'yolo' : document.shell.readScope === 'workspace';
    if (confined && !scope.isInside(real) && !/^\/dev\/(null|stdout|stderr)$/.test(path)) {
      return `${path} is outside the workspace`;
    }
    return undefined;
  }

  /** A pattern of file names, by what it means now, and by what it could mean. */
  function patternFault(access: 'read' | 'write', text: string, directory: string): string | undefined {
    const pattern = text.replaceAll(/["'\\]/g, '');
    const alternatives =
      pattern.length > MAX_PATTERN ? undefined : braceAlternatives(pattern, MAX_ALTERNATIVES);
    // What is quoted inside of brackets means something else there.
    const isQuoted = /\[.*["'\\]/s.test(text);
    if (!alternatives || isQuoted || /[{}]/.test(alternatives.join(''))) {
      return `the pattern ${text} is too involved to be judged`;
    }
    return alternatives
      .map((one) => alternativeFault(access, one, directory))
      .find((fault) => fault !== undefined);
  }

  function alternativeFault(
    access: 'read' | 'write',
    pattern: string,
    directory: string,
  ): string | undefined {
    const wild = pattern.search(/[*?[]/);
    const rest = wild < 0 ? '' : pattern.slice(wild);
    if (/(^|\/)\.\.(\/|$)/.test(rest)) return `${pattern} leads up again behind a wildcard`;
    if (access === 'write' && rest.includes('/'))
      return `which folder ${pattern} means is not known before it runs`;
    if (/(^|\/)\.[^/]*[*?[][^/]*\//.test(pattern)) return `${pattern} may mean any hidden folder`;
    const meant = expandPattern(pattern, directory);
    if (!meant) return `${pattern} means too many files to look at`;
    const fixed = resolve(
      directory,
      wild < 0 ? pattern : pattern.slice(0, pattern.lastIndexOf('/', wild) + 1),
    );
    const paths = [fixed, ...meant, ...couldMean(pattern, fixed)];
    return paths.map((path) => operandFault(access, path)).find((fault) => fault !== undefined);
  }

  /** Files that are off limits and that the last segment of a pattern would fit, whether they are there or not. */
  function couldMean(pattern: string, folder: string): string[] {
    const segment = pattern.slice(pattern.lastIndexOf('/') + 1);
    return /[*?[]/.test(segment)
      ? SAMPLES.filter(segmentMatcher(segment)).map((name) => resolve(folder, name))
      : [];
  }

  /** A file that a call did not name but would show. What `read_file` is not given nobody else is. */
  function admits(tool: string, path: string): boolean {
    if (!scope.isInside(path) || scope.isSecret(path)) return false;
    const own = relativeTo(settings.workspace, path);
    return !hiding.some(
      ({ tools, hides }) => (tools.includes(tool) || tools.includes('read_file')) && hides(own),
    );
  }

  /** What is not offered is not there, even if a model calls it all the same. */
  function isLeftOut(tool: string): boolean {
    const { offer, exclude } = document.tools;
    return means(exclude, tool) || (offer.length > 0 && !means(offer, tool, { exactly: true }));
  }

  /** Whether any call of a tool could ever be allowed. */
  function mayOffer({ name, kind }: { readonly name: string; readonly kind: Kind }): boolean {
    if (lacksMemory(name) || foreign.fault(name)) return false;
    if (isLeftOut(name)) return false;
    const { urlsIn, commandIn, onlyByRule } = traitsOf(name);
    if (urlsIn !== undefined && !document.network?.allow.length) return false;
    if (commandIn !== undefined && mode === 'plan' && !allowsCommands) return false;
    const about = rules.filter(({ rule }) => isAbout(rule, name)).map(({ rule }) => rule);
    if (about.some((rule) => rule.decision === 'deny' && !rule.paths && !rule.commands)) return false;
    // Every mode but yolo asks before it searches the web: without a word of the policy that is no offer.
    const byKind = byMode(mode, foreign.kind(name) ?? kind) !== 'deny';
    const bySilence = onlyByRule ? mode === 'yolo' : byKind || foreign.trust(name) !== undefined;
    return bySilence || about.some(({ decision }) => decision !== 'deny');
  }

  /** What the model is told with a tool, so that it does not try what will be refused. */
  function describe(tool: string): string | undefined {
    const { commandIn, urlsIn } = traitsOf(tool);
    if (commandIn !== undefined) return commandNote(mode === 'yolo', commands, document.onAsk);
    return urlsIn === undefined ? undefined : hostNote(document.network);
  }

  const allowed = shellRules.flatMap(({ decision, patterns }) =>
    decision === 'allow' ? (patterns ?? []) : [],
  );
  const commands = allowed.map((words) => words.join(' '));
  const summary = `${modeSummary(mode, document.onAsk)}${commands.length > 0 && mode !== 'yolo' ? `, except: ${commands.join(', ')}` : ''}.`;

  return {
    network,
    boundary: {
      hides: (path) => scope.isSecret(path),
      protects: (path) => scope.isProtected(path),
    },
    decide,
    shellText,
    admits,
    mayOffer,
    summary,
    describe,
  };
}

const HOLDS_PROTECTED = 'it has files in it that other programs execute';
const MAX_PATTERN = 500;
const MAX_ALTERNATIVES = 64;
/** Hidden files that a pattern may mean before they are there; those that are there are found anyway. */
const SAMPLES = wordsOf(
  '.env .env.local .env.production .npmrc .netrc .pypirc .git-credentials .git .github .ssh .aws',
);

function commandNote(all: boolean, commands: readonly string[], onAsk: OnAsk): string | undefined {
  if (all || commands.length === 0) return undefined;
  const allowed =
    onAsk === 'deny' || onAsk === 'fail' ? 'Allowed are only' : 'Allowed without an approval are';
  return `${allowed} commands that begin with: ${commands.join('; ')}. They may be combined with pipes, && and the like.`;
}

function isAbout({ tools, decision }: Rule, tool: string): boolean {
  return means(tools, tool, { exactly: decision === 'allow' });
}

function hostNote(network: NetworkSettings | undefined): string | undefined {
  return network?.allow.length ? `Allowed hosts: ${hostList(network.allow)}.` : undefined;
}

/** Whether a rule is about these paths: an allow about all of them, a deny or an ask about any. */
function pathMatcher({ paths, decision }: Rule, workspace: string): (paths: readonly string[]) => boolean {
  if (!paths) return () => true;
  const fits = globMatcher(paths, { ignoreCase: decision !== 'allow' });
  const own = (path: string) =>
    relativeTo(workspace, attempt(() => realPath(resolve(workspace, path))) ?? path);
  return (asked) =>
    decision === 'allow'
      ? asked.length > 0 && asked.every((path) => fits(own(path)))
      : asked.some((path) => fits(own(path)) || fits(relativeTo(workspace, resolve(workspace, path))));
}

function relativeTo(workspace: string, path: string): string {
  const start = pathIn(workspace, '');
  if (path === workspace) return '.';
  return path.startsWith(start) ? path.slice(start.length) : path;
}

/** Several policies: each decides on its own, and the strictest answer counts. */
export function allOf(policies: readonly Policy[]): Policy {
  const [first] = policies;
  if (policies.length === 1 && first) return first;
  return {
    network: {
      fault: (url) => policies.map(({ network }) => network.fault(url)).find((fault) => fault !== undefined),
      allowsPrivate: (url) => policies.every(({ network }) => network.allowsPrivate(url)),
    },
    boundary: {
      hides: (path) => policies.some(({ boundary }) => boundary.hides(path)),
      protects: (path) => policies.some(({ boundary }) => boundary.protects(path)),
    },
    async decide(request) {
      const answers: Decision[] = [];
      for (const policy of policies) {
        const answer = await policy.decide(request);
        if ('outside' in answer) return answer;
        answers.push(answer);
      }
      return combineDecisions(answers);
    },
    async shellText(line) {
      const texts = await Promise.all(policies.map((policy) => policy.shellText(line)));
      return texts.includes(undefined) ? undefined : (texts.find((text) => text !== line) ?? line);
    },
    admits: (tool, path) => policies.every((policy) => policy.admits(tool, path)),
    mayOffer: (tool) => policies.every((policy) => policy.mayOffer(tool)),
    summary: [...new Set(policies.map(({ summary }) => summary))].join(' '),
    describe: (tool) => {
      const notes = policies.map((policy) => policy.describe(tool)).filter((note) => note !== undefined);
      return notes.length > 0 ? [...new Set(notes)].join(' ') : undefined;
    },
  };
}
