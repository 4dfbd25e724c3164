import { SCHEMA_VERSION } from '../protocol/event.js';
import { COMMIT, VERSION } from '../lib/version.js';

/** What a bug report needs, and scripts may read. Keys are never removed. */
export function versionFacts(): object {
  return {
    name: 'bosun',
    version: VERSION,
    schema_version: SCHEMA_VERSION,
    commit: COMMIT,
    node: process.versions.node,
    platform: process.platform,
    arch: process.arch,
  };
}
