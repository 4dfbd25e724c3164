import { resolve } from 'node:path';
import { attempt } from '../lib/attempt.js';
import { globMatcher } from '../lib/glob.js';
import { pathIn, realPath } from '../lib/real-path.js';
import type { Rule } from './document.js';
import { fileTool, means } from './tool-names.js';

/** The rules of a policy that apply to a run. */
export interface RulesInForce {
  readonly all: readonly Rule[];
  /** Rules about a tool, whatever its arguments. */
  about(tool: string): Rule[];
  /** Rules about a call. */
  matching(tool: string, paths: readonly string[]): Rule[];
  /** Whether a tool may not show a file. What may not be read, no tool may show. */
  hides(tool: string, path: string): boolean;
}

export function rulesInForce(
  rules: readonly Rule[],
  { workspace, untrusted }: { readonly workspace: string; readonly untrusted: boolean },
): RulesInForce {
  const all = rules.filter(({ when }) => when === undefined || untrusted);
  const matchers = new Map(all.map((rule) => [rule, pathMatcher(rule, workspace)]));
  const hiding = all
    .filter(({ paths, decision }) => paths && decision !== 'allow')
    .map(({ tools, paths = [] }) => ({ tools, hides: globMatcher(paths, { ignoreCase: true }) }));
  const reader = fileTool('read');
  const about = (tool: string) => all.filter((rule) => isAbout(rule, tool));
  return {
    all,
    about,
    matching: (tool, paths) => about(tool).filter((rule) => matchers.get(rule)?.(paths)),
    hides(tool, path) {
      if (hiding.length === 0) return false;
      const own = relativeTo(workspace, path);
      return hiding.some(
        ({ tools, hides }) => (tools.includes(tool) || tools.includes(reader)) && hides(own),
      );
    },
  };
}

function isAbout({ tools, decision }: Rule, tool: string): boolean {
  return means(tools, tool, { exactly: decision === 'allow' });
}

/** Whether a rule is about these paths: an allow about all of them, a deny or an ask about any. */
function pathMatcher({ paths, decision }: Rule, workspace: string): (paths: readonly string[]) => boolean {
  if (!paths) return () => true;
  const fits = globMatcher(paths, { ignoreCase: decision !== 'allow' });
  const leadsTo = (path: string) =>
    relativeTo(workspace, attempt(() => realPath(resolve(workspace, path))) ?? path);
  return (asked) =>
    decision === 'allow'
      ? asked.length > 0 && asked.every((path) => fits(leadsTo(path)))
      : asked.some((path) => fits(leadsTo(path)) || fits(relativeTo(workspace, resolve(workspace, path))));
}

function relativeTo(workspace: string, path: string): string {
  const start = pathIn(workspace, '');
  if (path === workspace) return '.';
  return path.startsWith(start) ? path.slice(start.length) : path;
}
