import { canonicalJson } from '../../lib/canonical-json.js';
import type { DecisionRequest } from '../../protocol/decision.js';
import type { Rule } from '../document.js';
import { isBroad, ruleOf, type Draft } from '../remedy.js';
import { shownCall } from '../replay/shown-call.js';
import type { Dialect } from '../shell/model.js';
import type { Ceiling } from './ceiling.js';
import type { CommandForm, LearntCall, Need, Never, SeenCall, Unlearnt } from './lesson.js';
import type { CommandNeed } from './line-needs.js';
import { observe, type Observed } from './observe.js';
import { teach, type Taught } from './rules.js';
import { scriptCheck, type Circumstances } from './script-check.js';
import { commandTool } from '../tool-names.js';

/** A call that was allowed and succeeded, inside the ceiling, as a policy is asked about it. */
export interface Candidate extends SeenCall, Circumstances {
  readonly request: DecisionRequest;
}

export interface Learning {
  readonly ceiling: Ceiling;
  readonly minRuns: number;
  readonly dialect: Dialect;
  /** Nothing after the words that were seen is left open: the policy does not keep operands in the workspace. */
  readonly wordForWord?: boolean;
  /** The policy has rules of its own, which may cover part of what a call needs. */
  readonly hasRules?: boolean;
  /** Whether the new policy with these rules allows a call. */
  readonly allows: (call: Candidate, rules: readonly Rule[]) => Promise<boolean>;
}

export interface Lessons extends Taught {
  readonly unlearnt: readonly Unlearnt[];
  /** Calls that need no rule. */
  readonly free: number;
}

/** Makes rules from calls. Nothing is learnt that the new policy itself does not confirm, call by call. */
export async function learnFrom(candidates: readonly Candidate[], learning: Learning): Promise<Lessons> {
  const known = new Map<string, Chosen>();
  const changedScript = scriptCheck();
  const learnt: LearntCall[] = [];
  const unlearnt = new Pile();
  let free = 0;
  for (const candidate of candidates) {
    const { request, workspace, call } = candidate;
    const key = canonicalJson([request.tool, request.paths, request.params, workspace, call.approved]);
    const chosen = known.get(key) ?? (await choose(candidate, learning));
    known.set(key, chosen);
    if (chosen === 'free') free++;
    else if ('never' in chosen) unlearnt.add(candidate, chosen);
    else {
      const fault = changedScript(chosen.needs, candidate);
      if (fault) unlearnt.add(candidate, fault);
      else learnt.push({ ...candidate, needs: chosen.needs });
    }
  }
  const taught = teach(learnt, learning.ceiling, learning.minRuns);
  for (const { call, ...what } of taught.rare)
    unlearnt.add(call, { never: `seen in fewer than ${learning.minRuns} runs`, ...what });
  return { ...taught, unlearnt: unlearnt.all(), free };
}

type Chosen = 'free' | Never | { readonly needs: readonly Need[] };

/** The widest forms that may be learnt and suffice; else the words as they were. */
async function choose(candidate: Candidate, learning: Learning): Promise<Chosen> {
  const { request, workspace, call } = candidate;
  const { ceiling, allows, dialect } = learning;
  if (await allows(candidate, [])) return 'free';
  const observed: Observed = observe(request, workspace, dialect);
  if ('never' in observed) return observed;
  const { commands, others } = observed;
  const choices = commands.map(({ forms, ...need }) => ({
    ...need,
    forms: forms.filter(
      (one) => ceiling.covers(one, call.approved) && !isTooBroad(one) && (one.exact || !learning.wordForWord),
    ),
  }));
  const bare = choices.find(({ forms }) => forms.length === 0);
  if (bare) return { never: 'the ceiling allows less than any rule about it would', what: bare.spelt };
  for (const pick of learning.wordForWord ? [last] : [first, last]) {
    const needs = [...choices.map((choice) => commandNeed(choice, pick)), ...others];
    if (await allows(candidate, needs.map(draftOf).map(ruleOf)))
      return { needs: learning.hasRules ? await missingOf(needs, candidate, allows) : needs };
  }
  return { never: 'no rule allows it inside the workspace and without further options' };
}

/** The rules without which a call is still denied: a person's policy may have rules for the rest. */
async function missingOf(
  needs: readonly Need[],
  candidate: Candidate,
  allows: Learning['allows'],
): Promise<readonly Need[]> {
  let missing = needs;
  for (const need of needs) {
    const fewer = missing.filter((one) => one !== need);
    if (await allows(candidate, fewer.map(draftOf).map(ruleOf))) missing = fewer;
  }
  return missing;
}

type Pick = (forms: readonly CommandForm[]) => CommandForm;
const first: Pick = (forms) => forms[0] as CommandForm;
const last: Pick = (forms) => forms.at(-1) as CommandForm;

function commandNeed({ spelt, forms }: CommandNeed, pick: Pick): Need {
  return { type: 'command', spelt, form: pick(forms) };
}

function isTooBroad(form: CommandForm): boolean {
  return isBroad(commandDraft(form));
}

export function commandDraft({ words, ...bounds }: CommandForm): Draft {
  return { tools: [commandTool()], commands: [words], ...bounds, paths: undefined };
}

/** The smallest rule for a need. */
export function draftOf(need: Need): Draft {
  switch (need.type) {
    case 'command':
      return commandDraft(need.form);
    case 'path':
      return { tools: [need.tool], commands: undefined, paths: [need.path] };
    case 'tool':
      return { tools: [need.tool], commands: undefined, paths: undefined };
    default:
      return need satisfies never;
  }
}

/** What is not learnt, grouped. */
class Pile {
  readonly #things = new Map<string, Unlearnt & { readonly seen: SeenCall[] }>();

  add(seen: SeenCall, { never, what = shownCall(seen.call, 200), form }: Never): void {
    const key = JSON.stringify([what, never]);
    const thing = this.#things.get(key) ?? { what, why: never, seen: [], ...(form && { form }) };
    thing.seen.push(seen);
    this.#things.set(key, thing);
  }

  all(): Unlearnt[] {
    return [...this.#things.values()].toSorted((a, b) => a.what.localeCompare(b.what));
  }
}
