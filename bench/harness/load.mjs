// The load generator, in a process of its own: receives jobs over IPC and sends back what it measured.
import { cpuMicroseconds } from './cpu-time.mjs';
import { LoadClient } from './load-client.mjs';
import { percentile } from './statistics.mjs';

process.on('message', (job) => {
  run(job).then(
    (figures) => process.send(figures),
    (error) => process.send({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());

/** Measures for a time or a number of requests. Any error, wrong response or missing response fails the job. */
async function run({ connections, warmUpMs, measureMs, requests = Infinity, ...job }) {
  const clients = job.workload === 'connect' ? undefined : await openClients(job, connections);
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
      cpuAtBegin = cpuMicroseconds(job.pid);
    } else latencies.push(ms);
    return now < end && latencies.length < requests;
  };
  await within(
    warmUpMs + measureMs + 10_000,
    clients
      ? clients.run(record)
      : Promise.all(Array.from({ length: connections }, () => connectRepeatedly(job, record))),
  );
  const seconds = (performance.now() - beganAt) / 1000;
  const cpu = cpuMicroseconds(job.pid) - cpuAtBegin;
  if (clients) await within(5000, clients.close());
  return {
    perSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    cpuPerRequest: cpu / latencies.length,
  };
}

async function openClients(job, connections) {
  const clients = await Promise.all(
    Array.from({ length: connections }, (_, number) => LoadClient.open(job, number)),
  );
  return {
    run: (record) => Promise.all(clients.map((client) => client.run(job.workload, job, record))),
    close: () => Promise.all(clients.map((client) => client.close())),
  };
}

/** Measures from the connection to the first result: TCP connect, initialize, initialized, one tools/call. */
async function connectRepeatedly(job, record) {
  for (let isRunning = true; isRunning;) {
    const beganAt = performance.now();
    const client = await LoadClient.open(job, 0);
    await client.run('tools/call', job, () => false);
    isRunning = record(performance.now() - beganAt);
    await client.close();
  }
}

function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
