import { SANDBOX_MODES } from './sandbox.js';
import { boolean, object, oneOf, optionally, shape, text, word, type TypeOf } from './shape.js';

/** The sandbox of the programs that a run starts, and if there is none, why. */
export const SANDBOX_STATE = object({
  mode: oneOf(SANDBOX_MODES),
  active: boolean,
  backend: shape<'bubblewrap' | null>(optionally(word), 'none'),
  reason: text,
});
export type SandboxState = TypeOf<typeof SANDBOX_STATE>;
