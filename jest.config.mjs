/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  rootDir: '.',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.spec.tsx'],
  // Run by `npm run test:long`.
  testPathIgnorePatterns: ['/node_modules/', '/test/long/'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.tsx?$': '@swc/jest' },
  setupFiles: ['reflect-metadata'],
  // The end-to-end tests run the built server as a real process.
  globalSetup: '<rootDir>/test/kit/build.mjs',
  collectCoverageFrom: ['src/**/*.{ts,tsx}', '!src/main.ts'],
  coverageProvider: 'v8',
  // Processes take seconds to start on a busy machine.
  testTimeout: 60_000,
  // On two cores a third worker uses the time in which the others wait for processes and timers.
  maxWorkers: 3,
  workerIdleMemoryLimit: '512MB',
};
