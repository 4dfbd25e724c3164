import { globMatcher } from '../../lib/glob.js';
import type { OnAsk } from '../../protocol/decision.js';
import type { Kind } from '../../protocol/kind.js';
import type { RuleSet } from '../fold.js';
import { byMode } from '../modes.js';
import { covered, isJust } from '../shell/match.js';
import { literalWord } from '../shell/model.js';
import { hazardOf } from '../shell/programs.js';
import { means, takesCommand } from '../tool-names.js';
import type { CommandForm } from './lesson.js';

/** Whether a rule would allow nothing that the ceiling denies. What the ceiling denies by name is carried over. */
export interface Ceiling {
  covers(form: CommandForm, approved: boolean): boolean;
  coversPath(tool: string, kind: Kind, glob: string, approved: boolean): boolean;
}

export function ceilingOf(sets: readonly RuleSet[]): Ceiling {
  return {
    covers: (form, approved) => sets.every((set) => coversCommand(set, form, approved)),
    coversPath: (tool, kind, glob, approved) =>
      sets.every((set) => coversGlob(set, { tool, kind, glob, approved })),
  };
}

/** By default, or because an approver said yes. */
function byDefault({ mode, onAsk }: RuleSet, kind: Kind, approved: boolean): boolean {
  const decision = byMode(mode, kind);
  return decision === 'allow' || (decision === 'ask' && approved && someoneAnswers(onAsk));
}

export function someoneAnswers(onAsk: OnAsk): boolean {
  return onAsk !== 'deny' && onAsk !== 'fail';
}

function coversCommand(set: RuleSet, form: CommandForm, approved: boolean): boolean {
  if (byDefault(set, 'execute', approved)) return true;
  const words = form.words.map(literalWord);
  return allows(set).some(({ tools, commands, exact, directory }) => {
    if (!tools.some(takesCommand)) return false;
    if (directory !== undefined && directory !== form.directory) return false;
    if (exact) return form.exact && (commands?.some((whole) => isJust(whole, words)) ?? false);
    return (
      commands?.some((prefix) => {
        const meant = covered(prefix, words);
        return meant !== undefined && !hazardOf(meant, prefix.length);
      }) ?? true
    );
  });
}

interface PathWish {
  readonly tool: string;
  readonly kind: Kind;
  readonly glob: string;
  readonly approved: boolean;
}

function coversGlob(set: RuleSet, { tool, kind, glob, approved }: PathWish): boolean {
  if (byDefault(set, kind, approved)) return true;
  return allows(set).some(({ tools, paths }) => {
    if (!means(tools, tool, { exactly: true })) return false;
    return paths?.some((path) => coversAll(path, glob)) ?? true;
  });
}

/** Whether one glob covers all that another does, as far as their text shows it. */
function coversAll(wide: string, narrow: string): boolean {
  const plain = wide.replace(/^\.\//, '');
  if (plain === narrow || plain === '**') return true;
  if (!narrow.includes('*')) return globMatcher([plain])(narrow);
  const folder = /^([^*?[\]{}()!+@|]+)\/\*\*(?:\/\*)?$/.exec(plain)?.[1];
  return folder !== undefined && narrow.startsWith(`${folder}/`);
}

function allows({ rules }: RuleSet) {
  return rules.filter(({ decision, when }) => decision === 'allow' && when === undefined);
}
