import type { OnAsk, Policy } from '../protocol/decision.js';
import { lacksMemory, type CallGrounds } from './decide-call.js';
import { allowsCommands, shellRules } from './decide-line.js';
import type { RuleSet } from './fold.js';
import { byMode, modeSummary } from './modes.js';
import { hostList, type NetworkSettings } from './network.js';
import { means, traitsOf } from './tool-names.js';

/** What the model is offered under a policy, and told about it. */
export type Offer = Pick<Policy, 'mayOffer' | 'describe' | 'summary'>;

export function offerOf({ mode, onAsk, network, tools }: RuleSet, grounds: CallGrounds): Offer {
  const { memory, rules, foreign } = grounds;
  const lines = shellRules(rules);
  const allowed = lines.filter(({ decision }) => decision === 'allow');
  const named = (isExact: boolean) =>
    allowed
      .filter(({ exact = false }) => exact === isExact)
      .flatMap(({ patterns = [], directory }) => patterns.map((words) => words.join(' ') + where(directory)));
  const commands = { open: named(false), whole: named(true) };

  /** Whether the mode would allow or ask, or the tool is trusted. */
  function byDefault(name: string, kind: Parameters<Policy['mayOffer']>[0]['kind']): boolean {
    // Every mode but yolo asks before a web search: unless the policy mentions it, it is not offered.
    if (traitsOf(name).onlyByRule) return mode === 'yolo';
    return byMode(mode, foreign.kind(name) ?? kind) !== 'deny' || foreign.trust(name) !== undefined;
  }

  return {
    mayOffer({ name, kind }) {
      if (lacksMemory(memory, name) || foreign.fault(name) || isLeftOut(tools, name)) return false;
      const { urlsIn, commandIn } = traitsOf(name);
      if (urlsIn !== undefined && !network?.allow.length) return false;
      if (commandIn !== undefined && mode === 'plan' && !allowsCommands(mode, lines)) return false;
      const about = rules.about(name);
      if (about.some((rule) => rule.decision === 'deny' && !rule.paths && !rule.commands)) return false;
      return byDefault(name, kind) || about.some(({ decision }) => decision !== 'deny');
    },

    /** What the model is told with a tool, so that it does not try what will be denied. */
    describe(tool) {
      const { commandIn, urlsIn } = traitsOf(tool);
      if (commandIn !== undefined) return mode === 'yolo' ? undefined : commandNote(commands, onAsk);
      return urlsIn === undefined ? undefined : hostNote(network);
    },

    summary: `${modeSummary(mode, onAsk)}${mode === 'yolo' ? '' : exceptions(commands)}.`,
  };
}

function where(directory: string | undefined): string {
  return directory === undefined ? '' : ` (in ${directory})`;
}

/** A tool that is not offered does not exist, even if a model calls it anyway. */
export function isLeftOut({ offer, exclude }: RuleSet['tools'], tool: string): boolean {
  return means(exclude, tool) || (offer.length > 0 && !means(offer, tool, { exactly: true }));
}

/** What rules allow: commands that begin like this, and whole ones. */
interface AllowedCommands {
  readonly open: readonly string[];
  readonly whole: readonly string[];
}

function exceptions({ open, whole }: AllowedCommands): string {
  const exactly = whole.length > 0 ? [`exactly ${whole.join(', ')}`] : [];
  const all = [...(open.length > 0 ? [open.join(', ')] : []), ...exactly];
  return all.length > 0 ? `, except: ${all.join('; ')}` : '';
}

function commandNote({ open, whole }: AllowedCommands, onAsk: OnAsk): string | undefined {
  const kinds = [
    ...(open.length > 0 ? [`commands that begin with: ${open.join('; ')}`] : []),
    ...(whole.length > 0 ? [`exactly these commands, with no other words: ${whole.join('; ')}`] : []),
  ];
  if (kinds.length === 0) return undefined;
  const allowed =
    onAsk === 'deny' || onAsk === 'fail' ? 'You may run only' : 'Without an approval you may run only';
  return `${allowed} ${kinds.join('. And ')}. They may be combined with pipes, && and the like.`;
}

function hostNote(network: NetworkSettings | undefined): string | undefined {
  return network?.allow.length ? `Allowed hosts: ${hostList(network.allow)}.` : undefined;
}
