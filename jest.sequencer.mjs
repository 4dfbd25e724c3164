import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';
import { SLOWEST } from './test/tiers.mjs';

/** Starts what takes longest first; whatever jest knows decides about the rest. */
export default class SlowestFirst extends Sequencer {
  async sort(tests) {
    const rank = ({ path, context }) => {
      const at = SLOWEST.indexOf(relative(context.config.rootDir, path));
      return at < 0 ? SLOWEST.length : at;
    };
    return [...(await super.sort(tests))].sort((a, b) => rank(a) - rank(b));
  }
}
