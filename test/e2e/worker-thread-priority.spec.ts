import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { startGateway } from '../kit/gateway.js';
import { descendantsOf } from '../kit/processes.js';
import { hasPrerequisite } from '../kit/prerequisite.js';
import { everythingOverStdio } from '../kit/real-servers.js';

/** The values of `nice` of the threads of a process, main thread first. */
const priorities = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`)
    .map(Number)
    .toSorted((a, b) => a - b)
    .map((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      // The name of the program, the second field, may contain spaces.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(fields[16]);
    });

const HAS_PROC = hasPrerequisite('/proc', existsSync('/proc/self/task'));

(HAS_PROC ? describe : describe.skip)('the worker threads of V8', () => {
  it('run at a lower priority than the event loop and child processes', async () => {
    const gateway = await startGateway({ mcpServers: { everything: everythingOverStdio() } });
    await gateway.listed({ tools: ['everything'] });
    const [main, ...others] = priorities(gateway.pid);
    expect(main).toBe(0);
    expect(others.filter((priority) => priority === 10)).toHaveLength(5);
    expect(others.filter((priority) => priority === 0)).toHaveLength(others.length - 5);
    for (const child of descendantsOf(gateway.pid)) expect(priorities(child)[0]).toBe(0);
  });
});
