import { createEngine } from '../../src/policy/engine.js';
import { modeOnly, type PolicyDocument } from '../../src/policy/document.js';
import type { FindSettings } from '../../src/tools/builtin/glob.js';

/** What tools that find files need, with the real policy deciding what they may show. */
export function findSettings(workspace: string, policy: Partial<PolicyDocument> = {}): FindSettings {
  const document = { ...modeOnly('plan'), ...policy };
  const place = { workspace, writeProtected: [], home: undefined, untrusted: false };
  return { workspace, admits: createEngine(document, place).admits, outputCap: 40_000 };
}

/** The search engines' environment. */
export const searchEnvironment = { PATH: process.env['PATH'] ?? '' };
