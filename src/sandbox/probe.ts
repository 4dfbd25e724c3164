import { statSync } from 'node:fs';
import { attempt } from '../lib/attempt.js';
import { probe } from './bubblewrap/bubblewrap.js';
import type { Probed } from './request.js';

/** Whether bubblewrap works here, for programs in this workspace. */
export async function probeFor(workspace: string): Promise<Probed> {
  if (workspace === '/') return { reason: 'the workspace is the whole machine' };
  const owner = attempt(() => statSync(workspace).uid) ?? 0;
  return probedOnce(process.getuid?.() === 0 && owner !== 0);
}

/** A machine's abilities last for a minute: a batch of a thousand runs need not probe a thousand times. */
const KEPT_MS = 60_000;
const known = new Map<boolean, { readonly at: number; readonly probed: Promise<Probed> }>();

function probedOnce(foreignOwner: boolean): Promise<Probed> {
  const before = known.get(foreignOwner);
  const now = performance.now();
  if (before && now - before.at < KEPT_MS) return before.probed;
  const probed = probe({ platform: process.platform, foreignOwner });
  known.set(foreignOwner, { at: now, probed });
  return probed;
}
