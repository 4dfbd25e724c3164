// The other end of beside.mjs.
import { bosunHere } from './here.mjs';

const { process } = globalThis;
/** @type {Map<number, AbortController>} */
const running = new Map();

process.on('message', async (/** @type {any} */ { id, run, stop }) => {
  if (stop) {
    running.get(id)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const { args, ...surroundings } = run;
    process.send?.({ id, end: await bosunHere(args, { ...surroundings, stop: controller.signal }) });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
  running.delete(id);
});
// The worker is gone.
process.on('disconnect', () => process.exit());
