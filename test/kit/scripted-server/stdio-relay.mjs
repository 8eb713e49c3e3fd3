// A stdio MCP server without a will of its own: what comes in on stdin goes to the test over a socket, and what the
// test says goes to stdout. So the test decides every byte, while process, pipes and signals are real.
//
//   node puppet.mjs SOCKET [--grandchild] [--stubborn]
//
// --grandchild starts a process of its own; --stubborn stays when stdin ends and on SIGTERM. On SIGUSR2 it says on
// stderr how often it was told so.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';

const [path, ...flags] = process.argv.slice(2);
const grandchild = flags.includes('--grandchild') ? spawn('sleep', ['600'], { stdio: 'ignore' }) : undefined;
const stubborn = flags.includes('--stubborn');

let told = 0;
process.on('SIGUSR2', () => console.error(`told ${++told} times`));

const test = connect(path);
test.write(`${JSON.stringify({ pid: process.pid, grandchild: grandchild?.pid })}\n`);
process.stdin.pipe(test, { end: false });
test.pipe(process.stdout);

// The test is over: nobody is left behind, whatever happened to the gateway.
test.on('error', () => {});
test.on('close', () => {
  grandchild?.kill('SIGKILL');
  process.exit(0);
});
if (stubborn) process.on('SIGTERM', () => {});
else process.stdin.on('end', () => process.exit(0));
