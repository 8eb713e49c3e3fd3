// Well-behaved clients in a process of their own: each calls one tool at a fixed interval. Reports failures and latencies.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpPeer, message } from './http-peer.mjs';
import { percentile } from './statistics.mjs';

const INTERVAL_MS = 500;
let clients = [];
let latencies = [];
let failures = [];

const jobs = {
  async open({ url, key, count, tool }) {
    clients = await Promise.all(
      Array.from({ length: count }, async (_, number) => {
        const peer = new HttpPeer(url, key);
        const headers = await peer.initialize();
        await sleep((INTERVAL_MS * number) / count);
        const timer = setInterval(() => void call(peer, headers, tool), INTERVAL_MS);
        return { peer, timer };
      }),
    );
    return {};
  },
  /** Latencies and failures since the last report. */
  report() {
    const report = { requests: latencies.length, p99: percentile(latencies, 0.99), failures };
    latencies = [];
    failures = [];
    return report;
  },
  close() {
    for (const { peer, timer } of clients) {
      clearInterval(timer);
      peer.close();
    }
    return {};
  },
};

async function call(peer, headers, tool) {
  const sentAt = performance.now();
  try {
    const body = message('tools/call', { name: tool, arguments: { message: 'steady' } });
    const { status, body: text } = await peer.send({ headers, body });
    if (status !== 200 || !text.includes('"steady"')) failures.push(`HTTP ${status}: ${text.slice(0, 200)}`);
  } catch (error) {
    failures.push(error.message);
  }
  latencies.push(performance.now() - sentAt);
}

process.on('message', ({ job, ...options }) => {
  void Promise.resolve(jobs[job](options)).then((reply) => process.send(reply));
});
process.on('disconnect', () => process.exit());
