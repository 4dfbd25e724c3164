import { dirname, relative, resolve } from 'node:path';
import { plainReason } from '../lib/errors.js';
import { readRegularFile } from '../lib/regular-file.js';
import { configProblem } from '../protocol/problem.js';
import type { EffectivePolicy } from './fold.js';
import { besideFault, filesBeside } from './lock-beside.js';
import { isLockedBy, lockFault, makeLock, readLock, type PolicyLock } from './lock.js';
import { isPresetName, presetsFolder } from './preset-names.js';

/** The path of a policy's lock: next to the policy. */
export function lockFileOf(policy: string, folder: string): string {
  return resolve(folder, `${policy}.lock`);
}

/** The lock of a policy, by its `--policy` name in a folder. */
export function lockOf(
  policy: string,
  folder: string,
  { ruleSets }: Pick<EffectivePolicy, 'ruleSets'>,
  agreed: Pick<PolicyLock, 'beside' | 'evidence' | 'locked_at'>,
): PolicyLock {
  const place = dirname(lockFileOf(policy, folder));
  const files = (ruleSets[0]?.sources ?? []).map(({ file, sha256 }) => ({
    file: shownFile(file, place),
    sha256,
  }));
  const name = isPresetName(policy) ? policy : `./${relative(place, resolve(folder, policy))}`;
  return makeLock({ policy: name, files, ...agreed });
}

/** A preset by its name, anything else relative to the lock. */
function shownFile(file: string, folder: string): string {
  return dirname(file) === presetsFolder()
    ? file.slice(presetsFolder().length + 1).replace(/\.yaml$/, '')
    : relative(folder, file);
}

/** Throws unless a run in a workspace uses the policy that was locked. */
export async function checkLock(
  file: string,
  { ruleSets }: Pick<EffectivePolicy, 'ruleSets'>,
  workspace: string,
): Promise<void> {
  const lock = openLock(file);
  const fault = lockFault(lock, ruleSets) ?? (await faultBeside(lock, ruleSets, workspace));
  if (fault !== undefined)
    throw configProblem('policy_lock', `the policy does not match ${file}: ${fault}`, {
      hint: 'Compare with bosun policy replay --policy NEW --against OLD, then lock the new one with bosun policy lock.',
    });
}

async function faultBeside(
  { files, beside = [], locked_at }: PolicyLock,
  sets: EffectivePolicy['ruleSets'],
  workspace: string,
): Promise<string | undefined> {
  const set = sets.find((one) => isLockedBy(files, one));
  const fault = set && besideFault(beside, await filesBeside(set, workspace));
  return fault && `${fault} since it was locked on ${locked_at.slice(0, 10)}`;
}

/** The policy of a lock, as `--policy` takes it. */
export function lockedPolicy(file: string): string {
  const { policy } = openLock(file);
  return policy.startsWith('./') ? resolve(dirname(file), policy) : policy;
}

function openLock(file: string): PolicyLock {
  let text: string;
  try {
    text = readRegularFile(file, 16 * 1024 * 1024).bytes.toString('utf8');
  } catch (error) {
    throw configProblem('policy_lock', `the lock ${file} cannot be read: ${plainReason(error)}`);
  }
  const lock = readLock(text);
  if (typeof lock !== 'string') return lock;
  throw configProblem('policy_lock', `the lock ${file} cannot be used: ${lock}`, {
    hint: 'Write it again with bosun policy lock.',
  });
}
