import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { argumentsHash, bindAnswer, bindingFault } from '../../src/approvals/binding.js';
import { policyHash } from '../../src/policy/policy-hash.js';
import { canonicalJson } from '../../src/lib/canonical-json.js';
import type { AnswerBinding, ApprovalAnswer } from '../../src/protocol/approval.js';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const trusted = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
const now = new Date('2030-01-01T00:00:00Z');
const at = {
  sessionId: 's',
  argumentsSha256: argumentsHash('write_file', { file_path: 'a', content: 'b' }),
  requestSha256: 'r',
  policySha256: policyHash([{ mode: 'manual' }]),
  lines: ['first', 'second', 'third'],
  trustedKeys: [[trusted]],
  now,
};
const answer: ApprovalAnswer = {
  tool_call_id: '1',
  selected_option_id: 'modify',
  file_details: { new_content: 'x' },
  reason: 'why',
};
const binding = bindAnswer(answer, at, new Date('2030-01-02T00:00:00Z'), privateKey);

test('a signed answer counts for what it was given for', () => {
  expect(bindingFault(answer, binding, at)).toBeUndefined();
});

test('hashes do not depend on the order of keys', () => {
  expect(argumentsHash('t', { a: 1, b: { c: 2, d: 3 } })).toBe(
    argumentsHash('t', { b: { d: 3, c: 2 }, a: 1 }),
  );
  expect(argumentsHash('t', { a: 1 })).not.toBe(argumentsHash('u', { a: 1 }));
});

describe('nothing that was signed can be changed', () => {
  const answers: [string, ApprovalAnswer][] = [
    ['the call', { ...answer, tool_call_id: '2' }],
    ['the option', { ...answer, selected_option_id: 'proceed_always' }],
    ['the content', { ...answer, file_details: { new_content: 'y' } }],
    ['the reason', { ...answer, reason: 'because' }],
  ];
  test.each(answers)('%s', (_what, changed) => {
    expect(bindingFault(changed, binding, at)).toBe('its signature is wrong');
  });

  test('the run, and the time', () => {
    expect(bindingFault(answer, binding, { ...at, sessionId: 'other' })).toBe('its signature is wrong');
    const later = { ...binding, expires_at: '2040-01-01T00:00:00.000Z' };
    expect(bindingFault(answer, later, at)).toBe('its signature is wrong');
  });

  test('the transcript', () => {
    const other = { ...binding, transcript_sha256: 'second' };
    expect(bindingFault(answer, other, at)).toBe('its signature is wrong');
    const longer = { ...at, lines: [...at.lines, 'fourth'] };
    expect(bindingFault(answer, binding, longer)).toBeUndefined();
  });
});

describe('an answer does not count', () => {
  const { signature: _none, ...unsigned } = binding;
  const { transcript_sha256: _line, ...older } = unsigned;
  const cases: [string, AnswerBinding | undefined, Partial<typeof at>, RegExp][] = [
    ['without a binding', undefined, {}, /bound to nothing/],
    ['for another call', binding, { argumentsSha256: 'x' }, /another call/],
    ['under another policy', binding, { policySha256: 'x' }, /policy has changed/],
    ['for what was not shown', binding, { requestSha256: 'x' }, /not what was shown/],
    ['after its time', binding, { now: new Date('2030-01-02T00:00:00Z') }, /expired/],
    ['with a time that cannot be read', { ...binding, expires_at: 'never' }, {}, /expired/],
    ['unsigned, where keys are named', unsigned, {}, /not signed/],
    ['signed by an older version', signedAgain(older), {}, /without the transcript/],
    ['signed for another transcript', binding, { lines: ['first', 'second'] }, /not the one that was signed/],
    ['by a key that is not trusted', binding, { trustedKeys: [['other']] }, /does not trust/],
    [
      'by a key that only one of two policies trusts',
      binding,
      { trustedKeys: [[trusted], ['other']] },
      /does not trust/,
    ],
    [
      'with a broken signature',
      { ...binding, signature: { key: trusted, value: 'AAAA' } },
      {},
      /signature is wrong/,
    ],
    [
      'with a broken key',
      { ...binding, signature: { key: 'AAAA', value: 'AAAA' } },
      { trustedKeys: [] },
      /signature is wrong/,
    ],
  ];
  test.each(cases)('%s', (_what, bound, change, fault) => {
    expect(bindingFault(answer, bound, { ...at, ...change })).toMatch(fault);
  });
});

/** The signature that stands over just these fields. */
function signedAgain(bound: AnswerBinding): AnswerBinding {
  const bytes = Buffer.from(canonicalJson({ ...answer, ...bound, session_id: at.sessionId }));
  return { ...bound, signature: { key: trusted, value: sign(null, bytes, privateKey).toString('base64') } };
}

test('an unsigned answer counts where no keys are named', () => {
  const unsigned = bindAnswer(answer, at, new Date('2030-01-02T00:00:00Z'));
  expect(bindingFault(answer, unsigned, { ...at, trustedKeys: [] })).toBeUndefined();
});
