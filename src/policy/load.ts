import { parseDuration } from '../lib/duration.js';
import { nearest } from '../lib/nearest.js';
import { parseSize } from '../lib/size.js';
import type { OnAsk, RuleReference } from '../protocol/decision.js';
import {
  modeOnly,
  type NamedFile,
  type PolicyDocument,
  type PolicyLimits,
  type PolicyLoops,
  type PolicyPatch,
  type PolicySuccess,
  type Rule,
} from './document.js';
import { checkExamples } from './examples.js';
import { layerModelKeys, modelKeysIn } from './model-keys.js';
import { readHostPattern, type HostPattern, type NetworkSettings } from './network.js';
import { checkPassed } from './passed-variables.js';
import { checkReachable } from './reachable.js';
import { layerSandbox, sandboxIn } from './sandbox-keys.js';
import {
  folderOf,
  placeOf,
  policyFile,
  policyProblem,
  readSource,
  type PolicySource,
  type RawPolicy,
  type RawRule,
} from './source.js';
import { checkMentions, discoveryIn, joinServers, mentionsIn, serversIn } from './foreign-sources.js';
import { checkRedact } from './redact.js';
import { trustedKey } from './trusted-key.js';
import { takes, TOOL_NAMES, toolsMeant } from './tool-names.js';

export interface LoadSettings {
  /** Where relative names count from. */
  readonly folder: string;
  /** Where the presets are. */
  readonly presets: string;
}

/** Loads the policies of a run. What one says of a server may hold for that of another. */
export async function loadAll(names: readonly string[], settings: LoadSettings): Promise<PolicyDocument[]> {
  const documents: PolicyDocument[] = [];
  for (const name of names) documents.push(await loadPolicy(name, settings));
  checkMentions(documents);
  return documents;
}

/** Loads a policy by preset name or path, with all that it extends. Anything doubtful is a problem. */
export async function loadPolicy(name: string, settings: LoadSettings): Promise<PolicyDocument> {
  const document = await load(policyFile(name, settings.folder, settings.presets), settings, []);
  checkReachable(document.rules);
  await checkExamples(document.rules);
  return document;
}

async function load(file: string, settings: LoadSettings, path: readonly string[]): Promise<PolicyDocument> {
  const source = await readSource(file);
  checkPassed(source);
  await checkRedact(source);
  let document = modeOnly('plan');
  for (const [i, name] of (source.value.extends ?? []).entries()) {
    const base = baseFile(source, name, i, settings);
    if (base === file || path.includes(base)) {
      throw policyProblem(source, ['extends', i], `it extends itself: ${[...path, file, base].join(' -> ')}`);
    }
    document = layer(document, await load(base, settings, [...path, file]));
  }
  return layer(document, own(source), source.value);
}

function baseFile(source: PolicySource, name: string, index: number, { presets }: LoadSettings): string {
  try {
    return policyFile(name, folderOf(source), presets);
  } catch (error) {
    throw policyProblem(source, ['extends', index], (error as Error).message);
  }
}

/** Lists add up; single values override, if they are given. */
function layer(base: PolicyDocument, over: PolicyDocument, given?: RawPolicy): PolicyDocument {
  const keep = (isGiven: unknown) => given !== undefined && isGiven === undefined;
  const join = (a: readonly string[], b: readonly string[]) => [...new Set([...a, ...b])];
  return {
    sources: [...over.sources, ...base.sources],
    mode: keep(given?.mode) ? base.mode : over.mode,
    onAsk: keep(given?.on_ask) ? base.onAsk : over.onAsk,
    trustedKeys: join(base.trustedKeys, over.trustedKeys),
    onDenied: keep(given?.on_denied) ? base.onDenied : over.onDenied,
    rules: [...base.rules, ...over.rules],
    tools: {
      offer: join(base.tools.offer, over.tools.offer),
      exclude: join(base.tools.exclude, over.tools.exclude),
    },
    workspace: {
      include: join(base.workspace.include, over.workspace.include),
      readDeny: join(base.workspace.readDeny, over.workspace.readDeny),
      writeDeny: join(base.workspace.writeDeny, over.workspace.writeDeny),
      writeAllow: join(base.workspace.writeAllow, over.workspace.writeAllow),
    },
    shell: {
      ...base.shell,
      ...over.shell,
      readScope: keep(given?.shell?.read_scope) ? base.shell.readScope : over.shell.readScope,
      pass: join(base.shell.pass, over.shell.pass),
      set: { ...base.shell.set, ...over.shell.set },
    },
    network: joinNetworks(base.network, over.network),
    limits: { ...base.limits, ...over.limits },
    sandbox: layerSandbox(base.sandbox, over.sandbox),
    model: over.model ?? base.model,
    modelKeys: layerModelKeys(base.modelKeys, over.modelKeys),
    compressAt: over.compressAt ?? base.compressAt,
    loops: layerLoops(base.loops, over.loops),
    fallback: join(over.fallback, base.fallback),
    context: [...base.context, ...over.context],
    memory: over.memory ?? base.memory,
    ...webModelIn(over.webModel ?? base.webModel),
    success: {
      ...base.success,
      ...over.success,
      verify: join(base.success.verify, over.success.verify),
    },
    patch: layerPatch(base.patch, over.patch),
    servers: joinServers(base.servers, over.servers),
    discovery: over.discovery ?? base.discovery,
    redact: {
      env: join(base.redact.env, over.redact.env),
      patterns: join(base.redact.patterns, over.redact.patterns),
    },
    mentions: [...base.mentions, ...over.mentions],
  };
}

function joinNetworks(
  base: NetworkSettings | undefined,
  over: NetworkSettings | undefined,
): NetworkSettings | undefined {
  if (!base || !over) return over ?? base;
  return { allow: [...base.allow, ...over.allow], private: over.private ?? base.private };
}

function layerPatch(base: PolicyPatch | undefined, over: PolicyPatch | undefined): PolicyPatch | undefined {
  if (!base || !over) return over ?? base;
  return { ...base, ...over, paths: [...new Set([...base.paths, ...over.paths])] };
}

function layerLoops(base: PolicyLoops | undefined, over: PolicyLoops | undefined): PolicyLoops | undefined {
  return typeof base === 'object' && typeof over === 'object' ? { ...base, ...over } : (over ?? base);
}

/** A file's own content, in our words. */
function own(source: PolicySource): PolicyDocument {
  const { value, file, sha256 } = source;
  const empty = modeOnly(value.mode ?? 'plan');
  const { timeout, idle_timeout, read_scope, git, env } = value.shell ?? {};
  return {
    ...empty,
    sources: [{ file, sha256 }],
    onAsk: onAskIn(value),
    trustedKeys: (value.approvals?.trusted_keys ?? []).map((text, i) => trustedKey(text, source, i)),
    onDenied: value.on_denied ?? 'fail',
    rules: (value.rules ?? []).map((rule, i) => compileRule(rule, i, source)),
    tools: { offer: toolList(source, 'offer'), exclude: toolList(source, 'exclude') },
    workspace: {
      include: value.workspace?.include ?? [],
      readDeny: value.workspace?.read_deny ?? [],
      writeDeny: value.workspace?.write_deny ?? [],
      writeAllow: value.workspace?.write_allow ?? [],
    },
    shell: {
      ...(timeout !== undefined && { timeoutMs: parseDuration(timeout) as number }),
      ...(idle_timeout !== undefined && { idleTimeoutMs: parseDuration(idle_timeout) as number }),
      readScope: read_scope ?? 'any',
      ...(git !== undefined && { git }),
      pass: env?.pass ?? [],
      set: env?.set ?? {},
    },
    network: value.network && {
      allow: (value.network.allow ?? []).map((entry, i) => hostPattern(entry, source, i)),
      private: value.network.private,
    },
    limits: limitsIn(value),
    sandbox: sandboxIn(value.sandbox),
    model: value.model?.name,
    modelKeys: modelKeysIn(source),
    compressAt: value.context?.compress_at,
    loops: value.loops,
    fallback: value.model?.fallback ?? [],
    context: (value.context?.files ?? []).map((path, i) => ({
      path,
      place: placeOf(source, ['context', 'files', i]),
    })),
    memory: memoryIn(source),
    ...webModelIn(value.web?.model),
    success: successIn(value),
    patch: patchIn(value),
    servers: serversIn(source),
    discovery: discoveryIn(source),
    redact: { env: value.redact?.env ?? [], patterns: value.redact?.patterns ?? [] },
    mentions: mentionsIn(source),
  };
}

function onAskIn({ on_ask = 'deny' }: RawPolicy): OnAsk {
  if (typeof on_ask === 'string') return on_ask;
  const { command, timeout = '60s', env } = on_ask;
  return { command, timeoutMs: parseDuration(timeout) as number, pass: env?.pass ?? [], set: env?.set ?? {} };
}

function successIn({ success = {} }: RawPolicy): PolicySuccess {
  const { verify = [], require_changes, repairs } = success;
  return {
    verify,
    ...(require_changes !== undefined && { requireChanges: require_changes }),
    ...(repairs !== undefined && { repairs }),
  };
}

function patchIn({ patch }: RawPolicy): PolicyPatch | undefined {
  if (!patch) return undefined;
  const { max_files, max_bytes, paths = [] } = patch;
  return {
    paths,
    ...(max_files !== undefined && { maxFiles: max_files }),
    ...(max_bytes !== undefined && { maxBytes: max_bytes }),
  };
}

function memoryIn(source: PolicySource): NamedFile | undefined {
  const path = source.value.memory?.file;
  return path === undefined ? undefined : { path, place: placeOf(source, ['memory', 'file']) };
}

function webModelIn(webModel: string | undefined): Pick<PolicyDocument, 'webModel'> {
  return webModel === undefined ? {} : { webModel };
}

function hostPattern(entry: string, source: PolicySource, index: number): HostPattern {
  const pattern = readHostPattern(entry);
  if (typeof pattern !== 'string') return pattern;
  throw policyProblem(source, ['network', 'allow', index], `\`${entry}\`: ${pattern}`);
}

function toolList(source: PolicySource, list: 'offer' | 'exclude'): readonly string[] {
  const patterns = source.value.tools?.[list] ?? [];
  const also = list === 'exclude';
  return patterns.flatMap((pattern, i) => knownTools(pattern, source, ['tools', list, i], { also }));
}

function limitsIn({ limits = {} }: RawPolicy): PolicyLimits {
  const { time, retry_time, stored_output, ...numbers } = limits;
  return {
    ...numbers,
    ...(time !== undefined && { time_ms: parseDuration(String(time)) as number }),
    ...(retry_time !== undefined && { retry_time_ms: parseDuration(String(retry_time)) as number }),
    ...(stored_output !== undefined && { stored_output: parseSize(String(stored_output)) as number }),
  };
}

const list = (texts: string | readonly string[] | undefined): readonly string[] | undefined =>
  typeof texts === 'string' ? [texts] : texts;

function compileRule(raw: RawRule, index: number, source: PolicySource): Rule {
  const at = (...path: (string | number)[]) => ['rules', index, ...path];
  const duplicate = source.value.rules?.findIndex(({ id }) => id === raw.id);
  if (duplicate !== index)
    throw policyProblem(source, at('id'), `there are two rules with the id \`${raw.id}\``);
  const reference: RuleReference = { id: raw.id, file: source.file, line: source.locate(at()).line };
  const commands = list(raw.command);
  const paths = list(raw.path);
  const denies = { also: raw.decision !== 'allow' };
  const meant = (list(raw.tool) ?? []).flatMap((name, i) => knownTools(name, source, at('tool', i), denies));
  // A pattern such as `*_file` beside a path means our own tools.
  const own = commands || paths ? meant.filter((tool) => !tool.includes('*')) : meant;
  const tools = own.length > 0 ? own : meant;
  if (commands && tools.some((tool) => takes(tool) !== 'command')) {
    throw policyProblem(source, at('command'), '`command` goes with run_shell_command only');
  }
  if (paths && tools.some((tool) => takes(tool) !== 'path')) {
    throw policyProblem(source, at('path'), '`path` goes with tools that take a path only');
  }
  if ((raw.match || raw.not_match) && !commands && !paths) {
    throw policyProblem(source, at('match'), 'examples need a `command` or a `path` to be checked against');
  }
  if (raw.parallel !== undefined && raw.decision === 'deny') {
    throw policyProblem(source, at('parallel'), '`parallel` says nothing about calls that are denied');
  }
  return {
    reference,
    // Which paths a tool takes that nobody knows is not known either.
    tools: paths && denies.also ? [...new Set(meant)] : tools,
    commands: commands?.map((pattern, i) => patternWords(pattern, source, at('command', i))),
    paths,
    when: raw.when,
    decision: raw.decision,
    reason: raw.reason ?? `rule ${raw.id}`,
    ...(raw.parallel !== undefined && { parallel: raw.parallel }),
    match: raw.match ?? [],
    notMatch: raw.not_match ?? [],
  };
}

function knownTools(
  name: string,
  source: PolicySource,
  path: readonly (string | number)[],
  wider: { readonly also: boolean },
): string[] {
  const meant = toolsMeant(name, wider);
  if (meant.length > 0) return meant;
  const near = nearest(name, TOOL_NAMES);
  throw policyProblem(
    source,
    path,
    `there is no tool \`${name}\`${near ? ` (did you mean \`${near}\`?)` : ''}`,
  );
}

/** A pattern is compared word by word, so it is a list of plain words and nothing that a shell would act on. */
function patternWords(pattern: string, source: PolicySource, path: readonly (string | number)[]): string[] {
  if (!/^[\w@%+=:,./~^-]+(\s+[\w@%+=:,./~^-]+)*$/.test(pattern.trim())) {
    throw policyProblem(
      source,
      path,
      `\`${pattern}\` is not a list of plain words (no quotes, globs or operators)`,
    );
  }
  return pattern.trim().split(/\s+/);
}
