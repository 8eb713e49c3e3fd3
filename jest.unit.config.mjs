import config from './jest.config.mjs';

/** Everything but the end-to-end tests. */
export default { ...config, testPathIgnorePatterns: ['/node_modules/', '/test/e2e/'] };
