/** A setting and its value, as text. */
export type Pair = readonly [key: string, value: string];
export type Variables = Readonly<Record<string, string>>;

/**
 * Variables that set something for git, and for every git below it. What the environment already sets in this way
 * comes from the policy: it is added last, so it counts.
 */
export function settingVariables(pairs: readonly Pair[], environment: Variables): Record<string, string> {
  const all = [...pairs, ...pairsIn(environment)];
  const entries = all.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, key] as const,
    [`GIT_CONFIG_VALUE_${i}`, value] as const,
  ]);
  return { ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(all.length) };
}

function pairsIn(environment: Variables): Pair[] {
  const count = Number(environment['GIT_CONFIG_COUNT'] ?? 0);
  const isCount = Number.isInteger(count) && count >= 0 && count < 1000;
  return Array.from({ length: isCount ? count : 0 }, (_, i) => [
    environment[`GIT_CONFIG_KEY_${i}`] ?? '',
    environment[`GIT_CONFIG_VALUE_${i}`] ?? '',
  ]);
}

/** For versions before 2.31, in the form in which git passes `-c` on to itself. */
export function oldSettingVariables(pairs: readonly Pair[], environment: Variables): Record<string, string> {
  const own = pairs.map(([key, value]) => gitQuoted(`${key}=${value}`));
  const { GIT_CONFIG_PARAMETERS: before } = environment;
  return { GIT_CONFIG_PARAMETERS: [...own, ...(before ? [before] : [])].join(' ') };
}

/** Keeps git from doing anything: it cannot read what it is told, and shows it. */
export function stoppedGit(why: string): Record<string, string> {
  return { GIT_CONFIG_PARAMETERS: gitQuoted(`Bosun does not let git run here: ${why}`) };
}

function gitQuoted(text: string): string {
  return `'${text.replaceAll(/['!]/g, String.raw`'\$&'`)}'`;
}
