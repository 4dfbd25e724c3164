import { resolve } from 'node:path';
import { realPath } from '../lib/real-path.js';
import type { Decision, DecisionRequest, Mode } from '../protocol/decision.js';
import { decideCall, type CallGrounds } from './decide-call.js';
import { byMode, modeReason } from './modes.js';
import { operandGuard } from './operand-guard.js';
import type { PathScope } from './path-scope.js';
import type { RulesInForce } from './rules-in-force.js';
import type { Evidence, ShellContext, ShellRule } from './shell/context.js';
import type { Dialect } from './shell/model.js';
import { fileTool, takesCommand } from './tool-names.js';

/** What is known about the place where commands run. */
export interface CommandPlace {
  readonly workspace: string;
  readonly home: string | undefined;
  /** The grammar of the shell that runs command lines; bash by default. */
  readonly dialect?: () => Dialect;
  /** Whether a sandbox keeps commands from opening what the policy hides. */
  readonly hiddenBySandbox?: () => boolean;
  /** The environment of commands, as far as known. */
  readonly variable?: (name: string) => string | undefined;
}

export interface LineGrounds extends CallGrounds {
  readonly scope: PathScope;
  readonly readScope: 'workspace' | 'any';
}

/** Decides about command lines, and prints those that may run. */
export interface LineDecider {
  decide(request: DecisionRequest, commandIn: string): Promise<Decision>;
  shellText(line: string): Promise<string | undefined>;
}

export function lineDecider(grounds: LineGrounds, place: CommandPlace): LineDecider {
  const { mode, rules: inForce, scope, readScope } = grounds;
  const rules = shellRules(inForce);
  const dialect = () => place.dialect?.() ?? 'bash';
  const readsAll =
    mode === 'yolo' && !rules.some(({ decision, patterns }) => decision === 'deny' && patterns);
  const guard = {
    variable: (name: string) => place.variable?.(name) ?? (name === 'HOME' ? place.home : undefined),
    hides: (path: string) => scope.isSecret(path),
    confined: readScope === 'workspace',
  };
  const always = {
    rules,
    hasFreeWords: allowsCommands(mode, rules),
    workspace: place.workspace,
    home: place.home,
    decideFile: fileDecider(grounds),
    ...operandGuard(scope, mode, readScope),
  };

  return {
    async decide(request, commandIn) {
      const { judgeLine, beginCall, readScript } = await import('./shell/index.js');
      const { tool, params, paths } = request;
      beginCall(request);
      const context: ShellContext = {
        ...always,
        otherwise: { decision: byMode(mode, 'execute'), reason: modeReason(mode, tool, 'execute') },
        directory: realPath(resolve(place.workspace, paths[0]?.path ?? '.')),
        dialect: dialect(),
        read: readScript,
        ...(mode !== 'yolo' && !place.hiddenBySandbox?.() && { guard }),
      };
      const { decision, rule, reason, commands, parallel } = judgeLine(String(params[commandIn]), context);
      return {
        decision,
        rule,
        reason,
        ...(rule === null && { default: mode }),
        commands,
        ...(parallel && { parallel: true }),
      };
    },

    async shellText(line) {
      if (readsAll) return line;
      const { readScript } = await import('./shell/index.js');
      const reading = readScript(line, false, dialect());
      return reading.ok ? reading.script.text : undefined;
    },
  };
}

/** The rules about commands, in the form for the judge of command lines. */
export function shellRules({ all }: RulesInForce): ShellRule[] {
  return all
    .filter(({ tools }) => tools.some(takesCommand))
    .map(({ reference, decision, reason, commands, exact, directory, parallel }) => ({
      reference,
      decision,
      reason,
      patterns: commands,
      ...(exact && { exact }),
      ...(directory !== undefined && { directory }),
      ...(parallel !== undefined && { parallel }),
    }));
}

/** Without a rule that allows commands, not even the shell's harmless words are free. */
export function allowsCommands(mode: Mode, rules: readonly ShellRule[]): boolean {
  return mode === 'yolo' || rules.some(({ decision }) => decision === 'allow');
}

/** A redirection is decided like the tool that it replaces. */
function fileDecider(grounds: LineGrounds) {
  return (access: 'read' | 'write', path: string): Evidence => {
    const fault = grounds.scope.fault({ path, access });
    if (fault)
      return { decision: 'deny', rule: null, reason: 'outside' in fault ? fault.outside : fault.denied };
    return decideCall(grounds, fileTool(access), access === 'write' ? 'edit' : 'read', [path]);
  };
}
