import { parseDuration } from '../../lib/duration.js';
import { parseSize } from '../../lib/size.js';
import { SANDBOX_MODES } from '../../protocol/sandbox.js';
import { nameMatcher } from '../../lib/glob.js';

export type Values = Readonly<Record<string, unknown>>;

/** Combines several policies where adding up would be wider than each of them. */
export function strictestOf(each: readonly Values[]): Values {
  const sections = (key: string) => each.map((values) => mapAt(values, key));
  return withoutEmpty({
    limits: smallestOf(sections('limits')),
    shell: shellOf(sections('shell')),
    sandbox: sandboxOf(sections('sandbox')),
    tools: toolsOf(sections('tools')),
  });
}

function shellOf(sections: readonly Values[]): Values {
  const { timeout, idle_timeout } = smallestOf(sections);
  const environments = sections.map((section) => mapAt(section, 'env'));
  const env = withoutEmpty({
    pass: shared(environments.map((one) => listAt(one, 'pass'))),
    set: Object.assign({}, ...environments.map((one) => mapAt(one, 'set'))) as unknown,
  });
  return withoutEmpty({ ...Object.assign({}, ...sections), timeout, idle_timeout, env });
}

function sandboxOf(sections: readonly Values[]): Values {
  const modes = sections.flatMap(({ mode }) => SANDBOX_MODES.filter((one) => one === mode));
  // From the widest to the strictest.
  const mode = SANDBOX_MODES.findLast((one) => modes.includes(one));
  return withoutEmpty({
    mode,
    bind_ro: shared(sections.map((section) => listAt(section, 'bind_ro'))),
    bind_rw: shared(sections.map((section) => listAt(section, 'bind_rw'))),
    limits: smallestOf(sections.map((section) => mapAt(section, 'limits'))),
  });
}

/** A tool is offered if every list has it; if none is left, none is. */
function toolsOf(sections: readonly Values[]): Values {
  const lists = sections.map((section) => listAt(section, 'offer')).filter((list) => list.length > 0);
  const isIn = (list: readonly string[], name: string) =>
    list.some((pattern) => nameMatcher(pattern, { ignoreCase: false })(name));
  const offer = [...new Set(lists.flat())].filter((name) => lists.every((list) => isIn(list, name)));
  const exclude = [...new Set(sections.flatMap((section) => listAt(section, 'exclude')))];
  return lists.length > 0 && offer.length === 0 ? { exclude: ['*'] } : withoutEmpty({ offer, exclude });
}

/** The smallest of numbers, durations and sizes, as written. */
function smallestOf(sections: readonly Values[]): Values {
  const found: Record<string, unknown> = {};
  for (const [name, value] of sections.flatMap((section) => Object.entries(section)))
    if (found[name] === undefined || amountOf(value) < amountOf(found[name])) found[name] = value;
  return found;
}

function amountOf(value: unknown): number {
  if (typeof value !== 'string') return Number(value);
  return parseDuration(value) ?? parseSize(value) ?? Number.NaN;
}

function shared([first = [], ...others]: readonly (readonly string[])[]): string[] {
  return first.filter((one) => others.every((list) => list.includes(one)));
}

function listAt(values: Values, key: string): readonly string[] {
  return Array.isArray(values[key]) ? (values[key] as readonly string[]) : [];
}

function mapAt(values: Values, key: string): Values {
  return isMap(values[key]) ? values[key] : {};
}

export function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function withoutEmpty(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([key, value]) =>
        value !== undefined &&
        !(Array.isArray(value) && value.length === 0) &&
        // `network: {}` means no network.
        !(key !== 'network' && isMap(value) && Object.keys(value).length === 0),
    ),
  );
}
