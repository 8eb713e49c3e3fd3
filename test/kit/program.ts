/** The Node that runs the built program: the one of the image in `npm run test:node24`, else the one that runs jest. */
export const NODE = process.env['GATEHOUSE_TEST_NODE'] ?? process.execPath;

/** The built program; jest builds it before the first test. */
export const MAIN = 'dist/main.js';
