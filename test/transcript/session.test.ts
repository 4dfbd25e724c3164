import { describe, expect, test } from '@jest/globals';
import { Redactor } from '../../src/lib/redact/redactor.js';
import type { TranscriptLine } from '../../src/protocol/event.js';
import { readTranscript } from '../../src/transcript/reader.js';
import { openSession } from '../../src/transcript/session.js';
import { useWorkspace } from '../helpers/workspace.js';

const workspace = useWorkspace();

async function sessionWith(shown: TranscriptLine[]) {
  return openSession({
    workspace: workspace.path(),
    redactor: new Redactor({ secrets: () => [] }),
    reporters: [{ event: (line) => shown.push(line) }],
    onBroken: () => {},
  });
}

describe('the end of a session', () => {
  test('is shown once it is flushed', async () => {
    const shown: TranscriptLine[] = [];
    const session = await sessionWith(shown);
    const finishing = session.finish({ status: 'completed', response: 'done' });
    expect(shown).toEqual([]);
    expect((await finishing).status).toBe('completed');
    expect(shown.map(({ type }) => type)).toEqual(['result']);
  });

  test('is shown at once, and once only, to a process that leaves before the flush', async () => {
    const shown: TranscriptLine[] = [];
    const session = await sessionWith(shown);
    const finishing = session.finish({ status: 'completed', response: 'done' });
    expect(session.finishNow({ status: 'cancelled', reason: 'SIGINT' }).exit_code).toBe(0);
    expect(shown).toMatchObject([{ type: 'result', status: 'completed' }]);
    await finishing;
    expect(shown).toHaveLength(1);
    expect(readTranscript(session.transcript).lines).toHaveLength(1);
  });
});
