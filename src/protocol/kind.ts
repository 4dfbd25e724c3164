/** What a tool does to the world. The policy's defaults depend on the kind. */
export const KINDS = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'other',
] as const;
export type Kind = (typeof KINDS)[number];

const MUTATORS: ReadonlySet<Kind> = new Set(['edit', 'delete', 'move', 'execute', 'other']);

/** Mutators keep the model's order; everything else may run side by side. */
export function isMutator(kind: Kind): boolean {
  return MUTATORS.has(kind);
}
