import config from './jest.config.mjs';

/** Everything but the end-to-end tests. */
export default { ...config, testPathIgnorePatterns: [...config.testPathIgnorePatterns, '/test/e2e/'] };
