import { describe, expect, test } from '@jest/globals';
import { Problem } from '../../src/protocol/problem.js';
import { apiKeyAccess, vertexAccess } from '../../src/providers/gemini/credentials.js';

type Variables = Record<string, string>;

function problemOf(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('no problem');
}

describe('the API key', () => {
  test.each<[string, Variables]>([
    ['GEMINI_API_KEY', { GEMINI_API_KEY: 'k1' }],
    ['GOOGLE_API_KEY', { GOOGLE_API_KEY: 'k1' }],
    ['both, where they agree', { GEMINI_API_KEY: 'k1', GOOGLE_API_KEY: 'k1' }],
    ['both, where they agree but for a newline', { GEMINI_API_KEY: 'k1\n', GOOGLE_API_KEY: 'k1' }],
    ['the other one, where one is blank', { GEMINI_API_KEY: ' ', GOOGLE_API_KEY: ' k1 ' }],
    ['GEMINI_API_KEY, whatever there is for Vertex', { GEMINI_API_KEY: 'k1', GOOGLE_CLOUD_PROJECT: 'p' }],
  ])('comes from %s', (_, variables) => {
    expect(apiKeyAccess(variables)).toEqual({ type: 'api_key', apiKey: 'k1' });
  });

  test.each<[string, Variables]>([
    ['is not set', {}],
    ['is empty', { GEMINI_API_KEY: '' }],
    ['is blank', { GEMINI_API_KEY: ' \n' }],
    ['is for something else', { OPENAI_API_KEY: 'k', GOOGLE_APPLICATION_CREDENTIALS: '/x' }],
  ])('that %s is a matter of authentication, and the hint names the variable', (_, variables) => {
    const problem = problemOf(() => apiKeyAccess(variables));
    expect(problem).toMatchObject({ status: 'auth', code: 'no_credentials' });
    expect(problem.message).toContain('GEMINI_API_KEY');
    expect(problem.hint).toContain('GEMINI_API_KEY');
  });

  test('is not chosen between two that differ; both are named and neither is shown', () => {
    const problem = problemOf(() => apiKeyAccess({ GEMINI_API_KEY: 'first-k', GOOGLE_API_KEY: 'second-k' }));
    expect(problem).toMatchObject({ status: 'auth', code: 'two_credentials' });
    expect(problem.message).toMatch(/GEMINI_API_KEY and GOOGLE_API_KEY/);
    expect(`${problem.message} ${problem.hint}`).not.toMatch(/first-k|second-k/);
  });
});

describe('Vertex', () => {
  test.each<[Variables, string]>([
    [{ GOOGLE_CLOUD_PROJECT: 'p1' }, 'global'],
    [{ GOOGLE_CLOUD_PROJECT: ' p1 ', GOOGLE_CLOUD_LOCATION: '' }, 'global'],
    [{ GOOGLE_CLOUD_PROJECT: 'p1', GOOGLE_CLOUD_LOCATION: 'europe-west4' }, 'europe-west4'],
    [{ GOOGLE_CLOUD_PROJECT: 'p1', GEMINI_API_KEY: 'k' }, 'global'],
  ])('with %j is used in %s', (variables, location) => {
    expect(vertexAccess(variables)).toEqual({ type: 'vertex', project: 'p1', location });
  });

  test.each<[Variables]>([[{}], [{ GOOGLE_CLOUD_PROJECT: ' ' }], [{ GOOGLE_CLOUD_LOCATION: 'global' }]])(
    'with %j lacks a project',
    (variables) => {
      const problem = problemOf(() => vertexAccess(variables));
      expect(problem).toMatchObject({ status: 'auth', code: 'no_project' });
      expect(problem.message).toContain('GOOGLE_CLOUD_PROJECT');
    },
  );
});
