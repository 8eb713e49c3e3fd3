// The load, in a process of its own: takes jobs over IPC and sends back what it measured.
import { Client } from './client.mjs';
import { cpuMicroseconds } from './cpu-time.mjs';

process.on('message', (job) => {
  run(job).then(
    (figures) => process.send(figures),
    (error) => process.send({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());

/** Measures for so long, or so many requests. Any error, wrong answer or silence fails the whole job. */
async function run({ url, pid, prefix, workload, connections, warmUpMs, measureMs, requests = Infinity }) {
  const clients = await Promise.all(
    Array.from({ length: connections }, (_, number) => Client.open(url, number)),
  );
  const latencies = [];
  const begin = performance.now() + warmUpMs;
  const end = begin + measureMs;
  let cpuAtBegin;
  let beganAt;
  const record = (ms) => {
    const now = performance.now();
    if (now < begin) return true;
    if (beganAt === undefined) {
      beganAt = now;
      cpuAtBegin = cpuMicroseconds(pid);
    } else latencies.push(ms);
    return now < end && latencies.length < requests;
  };
  await within(
    warmUpMs + measureMs + 10_000,
    Promise.all(clients.map((client) => client.run(workload, prefix, record))),
  );
  const seconds = (performance.now() - beganAt) / 1000;
  const cpu = cpuMicroseconds(pid) - cpuAtBegin;
  await within(5000, Promise.all(clients.map((client) => client.close())));
  latencies.sort((a, b) => a - b);
  return {
    perSecond: latencies.length / seconds,
    p50: latencies[Math.floor(latencies.length * 0.5)],
    p99: latencies[Math.floor(latencies.length * 0.99)],
    cpuPerRequest: cpu / latencies.length,
  };
}

function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
