import { isDeepStrictEqual } from 'node:util';
import { splitMcpName } from '../../protocol/source.js';
import type { PolicySource } from '../place.js';
import { isMap, strictestOf, withoutEmpty, type Values } from './carried-strictest.js';

/** One policy of the ceiling: its files, what they extend first. */
export type CeilingSources = readonly Pick<PolicySource, 'file' | 'value'>[];

/** What the calls need of the ceiling besides its rules. */
export interface Used {
  /** Names of external tools. */
  readonly tools: ReadonlySet<string>;
  /** Hosts that were reached, as `network.allow` takes them. */
  readonly hosts: readonly string[];
  readonly memory: boolean;
  readonly discovery: boolean;
}

export interface Carried {
  /** Keys of the new policy besides its mode and rules. */
  readonly keys: Values;
  /** The rules of the ceiling that do not allow, as written. */
  readonly rules: readonly Values[];
  /** Keys of the ceiling that are not permissions, and stay where they are. */
  readonly left: readonly string[];
}

const KEPT = ['tools', 'workspace', 'limits', 'redact', 'sandbox'];
const HANDLED = [
  ...KEPT,
  ...['version', 'extends', 'mode', 'on_ask', 'rules', 'shell', 'network', 'mcp', 'discovery', 'memory'],
];

/** What the new policy takes over from the ceiling. It allows no more than the ceiling does. */
export function carriedFrom(policies: readonly CeilingSources[], used: Used): Carried {
  const each = policies.map((sources) => mergedAll(sources.map(({ value }) => value)));
  const all = each.length > 1 ? combinedAll(each) : (each[0] ?? {});
  const rules = policies.flatMap((sources) => sources.flatMap(({ value }) => strictRules(value)));
  const keys: Record<string, unknown> = { shell: shellOf(all) };
  for (const key of KEPT) if (all[key] !== undefined) keys[key] = all[key];
  if (keys['workspace']) keys['workspace'] = workspaceOf(each);
  const network = networkOf(each, used.hosts);
  if (network) keys['network'] = network;
  const servers = serversOf(all, used.tools);
  if (servers) keys['mcp'] = { servers };
  if (used.memory && all['memory'] !== undefined) keys['memory'] = all['memory'];
  if (used.discovery && all['discovery'] !== undefined) keys['discovery'] = all['discovery'];
  const left = Object.keys(all).filter((key) => !HANDLED.includes(key));
  return { keys: withoutEmpty(keys), rules: withUniqueIds(rules), left };
}

function combinedAll(each: readonly Values[]): Values {
  const { limits: _limits, shell: _shell, sandbox: _sandbox, tools: _tools, ...rest } = mergedAll(each);
  return { ...rest, ...strictestOf(each) };
}

function mergedAll(values: readonly Values[]): Values {
  return values.reduce<Values>((base, over) => merged(base, over), {});
}

/** Lists add up, maps are merged, other values override; servers are whole. */
function merged(base: Values, over: Values, depth = 0): Values {
  const values: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = values[key];
    if (Array.isArray(before) && Array.isArray(value)) values[key] = [...new Set([...before, ...value])];
    else if (isMap(before) && isMap(value) && key !== 'on_ask')
      values[key] = depth === 2 ? value : merged(before, value, depth + 1);
    else values[key] = value;
  }
  return values;
}

function strictRules(value: Values): Values[] {
  return ((value['rules'] ?? []) as readonly Values[]).filter(({ decision }) => decision !== 'allow');
}

/** How commands run stays; what they may read does not go beyond the workspace. */
function shellOf({ shell }: Values): Values {
  const { git: _git, ...rest } = (shell ?? {}) as Values;
  return { ...rest, read_scope: 'workspace' };
}

/** Only a person lifts the built-in protection. Further folders must be in every policy. */
function workspaceOf(each: readonly Values[]): Values {
  const sections = each.map(({ workspace }) => (workspace ?? {}) as Readonly<Record<string, string[]>>);
  const union = (key: string) => [...new Set(sections.flatMap((section) => section[key] ?? []))];
  const include = union('include').filter((path) =>
    sections.every((section) => section['include']?.includes(path)),
  );
  return withoutEmpty({ include, read_deny: union('read_deny'), write_deny: union('write_deny') });
}

/** Hosts with a name stay as they are; a wildcard is replaced by the hosts that were seen. */
function networkOf(each: readonly Values[], seen: readonly string[]): Values | undefined {
  const sections = each.flatMap(({ network }) => (isMap(network) ? [network] : []));
  if (sections.length === 0) return undefined;
  const lists = sections.map(({ allow }) => (allow ?? []) as readonly string[]);
  const named = (lists[0] ?? []).filter(
    (host) => !host.includes('*') && lists.every((list) => list.includes(host)),
  );
  const allow = [...new Set([...named, ...seen])];
  const isPrivate = sections.every((section) => section['private'] === 'allow');
  return { ...(allow.length > 0 && { allow }), ...(isPrivate && { private: 'allow' }) };
}

/** Servers whose tools were used. Trust is dropped: it would allow tools that nobody has seen. */
function serversOf({ mcp }: Values, tools: ReadonlySet<string>): Values | undefined {
  const servers = Object.entries(((mcp ?? {}) as { servers?: Values }).servers ?? {});
  const names = new Set([...tools].map((tool) => splitMcpName(tool)?.server));
  const used = servers
    .filter(([name]) => names.has(name))
    .map(([name, server]) => {
      const { trust: _trust, ...rest } = server as Values;
      return [name, rest] as const;
    });
  return used.length > 0 ? Object.fromEntries(used) : undefined;
}

/** A rule of a preset that two policies extend is carried over once. */
function withUniqueIds(rules: readonly Values[]): Values[] {
  const kept: Values[] = [];
  for (const rule of rules) {
    if (kept.some((one) => isDeepStrictEqual(one, rule))) continue;
    let id = String(rule['id']);
    for (let n = 2; kept.some((one) => one['id'] === id); n++) id = `${String(rule['id'])}-${n}`;
    kept.push({ ...rule, id });
  }
  return kept;
}
