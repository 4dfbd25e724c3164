import type { Decision, Policy } from '../protocol/decision.js';
import { combineDecisions } from './combine-decisions.js';

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
