import type { ChangedFile } from './summary.js';

/** What to add to a changed file besides its lines; empty for an ordinary edit by a tool. */
export function changeNote({ kind, from, by, added }: ChangedFile): string {
  const facts = [
    kind === 'added' && 'new',
    kind === 'deleted' && 'deleted',
    kind === 'mode' && 'permissions only',
    from !== undefined && `renamed from ${from}`,
    added === undefined && kind !== 'mode' && 'lines not counted',
    by === 'command' && 'by a command',
    by === 'both' && 'by a tool and a command',
  ];
  return facts.filter(Boolean).join(', ');
}

/** `+2 −1`; empty if lines were not counted. */
export function lineCounts({ added, removed }: ChangedFile, minus = '-'): string {
  return added === undefined || removed === undefined ? '' : `+${added} ${minus}${removed}`;
}
