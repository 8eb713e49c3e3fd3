import { node24 } from './.ci/node24/node24.mjs';
import config from './jest.config.mjs';

/** Read by test/kit/program.ts: the program under test runs on the Node of the image, jest and the servers on their own. */
process.env.GATEHOUSE_TEST_NODE = node24();

/** Specs that depend on what Node provides: processes, signals, HTTP, TLS, streams, files and the terminal. */
const SPECS = [
  'bad-exchange',
  'byte-fidelity',
  'cancellation',
  'cli',
  'real-servers',
  'recovery',
  'reload',
  'resumption',
  'server-requests',
  'start-and-stop',
  'state-compatibility',
  'subscriptions',
  'tls-servers',
  'tracing',
  'tui-terminal',
  'worker-thread-priority',
];

export default { ...config, testMatch: SPECS.map((name) => `<rootDir>/test/e2e/${name}.spec.ts`) };
