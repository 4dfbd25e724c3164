import { statSync } from 'node:fs';
import { attempt } from '../lib/attempt.js';
import { probe } from './box/bubblewrap.js';
import type { Probed } from './request.js';

/** Whether bubblewrap works here, for programs in this workspace. */
export async function probeFor(workspace: string): Promise<Probed> {
  if (workspace === '/') return { reason: 'the workspace is the whole machine' };
  const owner = attempt(() => statSync(workspace).uid) ?? 0;
  return probe({ platform: process.platform, foreignOwner: process.getuid?.() === 0 && owner !== 0 });
}
