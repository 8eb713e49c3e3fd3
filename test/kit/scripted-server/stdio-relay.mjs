// A stdio MCP server that relays stdin to the test over a socket, and the answers of the test to stdout. The test
// controls every byte, while process, pipes and signals are real.
//
//   node stdio-relay.mjs SOCKET [--grandchild] [--stubborn]
//
// --grandchild starts a child process; --stubborn keeps running when stdin ends and on SIGTERM. On SIGUSR2 it writes a line
// to stderr.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';

const [path, ...flags] = process.argv.slice(2);
const grandchild = flags.includes('--grandchild') ? spawn('sleep', ['600'], { stdio: 'ignore' }) : undefined;
const stubborn = flags.includes('--stubborn');

let signals = 0;
process.on('SIGUSR2', () => console.error(`SIGUSR2 number ${++signals}`));

const test = connect(path);
test.write(`${JSON.stringify({ pid: process.pid, grandchild: grandchild?.pid })}\n`);
process.stdin.pipe(test, { end: false });
test.pipe(process.stdout);

// At the end of the test no process is left, even if the gateway was killed.
test.on('error', () => {});
test.on('close', () => {
  grandchild?.kill('SIGKILL');
  process.exit(0);
});
if (stubborn) process.on('SIGTERM', () => {});
else process.stdin.on('end', () => process.exit(0));
