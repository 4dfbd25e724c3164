import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { STARTS_PROCESSES } from './test/tiers.mjs';

const shared = {
  testEnvironment: '<rootDir>/jest.environment.mjs',
  roots: ['<rootDir>/test', '<rootDir>/src'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/jest.transform.mjs' },
  // Not among what tests make, which may be gone after each run.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  // Most files are ours.
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  moduleNameMapper: {
    '^(ajv|unbash|yaml)$': '<rootDir>/test/helpers/shared/$1.cjs',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
};

const suites = readdirSync(new URL('test', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`);
const isProcess = (suite) => /^test\/(?:e2e|attack)\//.test(suite) || STARTS_PROCESSES.includes(suite);
const uses = (helper) => (suite) =>
  readFileSync(new URL(suite, import.meta.url), 'utf8').includes(`/helpers/${helper}.js'`);
const project = (displayName, belongs, more = {}) => ({
  ...shared,
  ...more,
  displayName,
  testMatch: suites.filter(belongs).map((suite) => `<rootDir>/${suite}`),
});

const unit = project('unit', (suite) => !isProcess(suite), {
  testEnvironment: '<rootDir>/jest.unit.mjs',
});
const TIERS = {
  unit: [unit],
  guard: [project('process', isProcess), unit],
  // Suites that do more in it.
  soak: [
    project('soak', (suite) =>
      ['counts', 'this-process', 'queue-server'].some((helper) => uses(helper)(suite)),
    ),
  ],
  bounds: [project('bounds', uses('bounds'))],
};

export default {
  projects: TIERS[process.env.BOSUN_TEST_TIER ?? 'guard'],
  testSequencer: '<rootDir>/jest.sequencer.mjs',
  testTimeout: process.env.BOSUN_TEST_TIER === 'soak' ? 900_000 : 240_000,
  coverageProvider: 'v8',
  coverageReporters: ['text-summary'],
  // More than there are processors: many suites wait for processes, limits and servers.
  maxWorkers: availableParallelism() + 4,
  // A worker dies at once when it is told to: see jest.environment.mjs. On a busy machine it is not told at once.
  workerGracefulExitTimeout: 30_000,
};
