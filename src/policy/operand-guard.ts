import { resolve } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { braceAlternatives, expandPattern, segmentMatcher } from '../lib/glob.js';
import { pathNamed, realPath } from '../lib/real-path.js';
import { wordsOf } from '../lib/text.js';
import type { Mode } from '../protocol/decision.js';
import { protectedMessage, type PathScope } from './path-scope.js';
import type { ShellContext } from './shell/context.js';

/** What the boundary says about paths in command lines: it applies whatever rules say about the program. */
export function operandGuard(
  scope: PathScope,
  mode: Mode,
  readScope: 'workspace' | 'any',
): Pick<ShellContext, 'operandFault' | 'patternFault'> {
  function operandFault(access: 'read' | 'write', path: string): string | undefined {
    const real = attempt(() => realPath(path)) ?? path;
    if (scope.isSecret(real) || scope.isSecret(path)) return `${path} is a file that holds secrets`;
    if (access === 'write' && scope.isInside(real)) {
      const protection = scope.writeFault(real) ?? (scope.holdsProtected(real) ? HOLDS_PROTECTED : undefined);
      if (protection !== undefined) return protectedMessage(path, protection);
    }
    const confined = access === 'write' ? mode !== 'yolo' : readScope === 'workspace';
    if (confined && !scope.isInside(real) && !/^\/dev\/(null|stdout|stderr)$/.test(path)) {
      return `${path} is outside the workspace`;
    }
    return undefined;
  }

  /** Checks a pattern of file names, by what it means now, and by what it could mean. */
  function patternFault(access: 'read' | 'write', text: string, directory: string): string | undefined {
    const pattern = text.replaceAll(/["'\\]/g, '');
    const alternatives =
      pattern.length > MAX_PATTERN ? undefined : braceAlternatives(pattern, MAX_ALTERNATIVES);
    // Quotes inside brackets have a different meaning there.
    const isQuoted = /\[.*["'\\]/s.test(text);
    if (!alternatives || isQuoted || /[{}]/.test(alternatives.join(''))) {
      return `the pattern ${text} is too complex to be judged`;
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
    if (/(^|\/)\.\.(\/|$)/.test(rest)) return `${pattern} leads up again after a wildcard`;
    if (access === 'write' && rest.includes('/'))
      return `which folder ${pattern} means is not known before it runs`;
    if (/(^|\/)\.[^/]*[*?[][^/]*\//.test(pattern)) return `${pattern} may mean any hidden folder`;
    const meant = expandPattern(pattern, directory);
    if (!meant) return `${pattern} means too many files to look at`;
    const fixed = pathNamed(
      directory,
      wild < 0 ? pattern : pattern.slice(0, pattern.lastIndexOf('/', wild) + 1),
    );
    const paths = [fixed, ...meant, ...couldMean(pattern, fixed)];
    return paths.map((path) => operandFault(access, path)).find((fault) => fault !== undefined);
  }

  return { operandFault, patternFault };
}

/** Denied files that the last segment of a pattern would match, whether they exist or not. */
function couldMean(pattern: string, folder: string): string[] {
  const segment = pattern.slice(pattern.lastIndexOf('/') + 1);
  return /[*?[]/.test(segment)
    ? SAMPLES.filter(segmentMatcher(segment)).map((name) => resolve(folder, name))
    : [];
}

const HOLDS_PROTECTED = 'it contains files that other programs execute';
const MAX_PATTERN = 500;
const MAX_ALTERNATIVES = 64;
/** Hidden files that a pattern may mean before they exist; existing ones are found anyway. */
const SAMPLES = wordsOf(
  '.env .env.local .env.production .npmrc .netrc .pypirc .git-credentials .git .github .ssh .aws',
);
