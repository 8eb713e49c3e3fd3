import config from './jest.config.mjs';

/**
 * Specs that take too long for `npm test`: builds from a clone, generated files, a browser, and very many streams, resources
 * and killed processes. `.ci/run` runs them.
 */
export default {
  ...config,
  testPathIgnorePatterns: ['/node_modules/'],
  testMatch: ['<rootDir>/test/long/*.spec.ts'],
  maxWorkers: 2,
};
