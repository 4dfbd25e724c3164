/** What a call may do at worst, for approvers; the later, the worse. No decision depends on it. */
export const RISKS = ['reads', 'writes', 'network', 'unknown'] as const;
export type Risk = (typeof RISKS)[number];

/** The worst of several; of none, that nothing changes. */
export function worstRisk(risks: readonly Risk[]): Risk {
  return risks.reduce((worst, risk) => (RISKS.indexOf(risk) > RISKS.indexOf(worst) ? risk : worst), 'reads');
}
