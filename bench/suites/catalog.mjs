import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('../harness/catalog-worker.mjs', import.meta.url));

const RUNS = [
  { what: '100,000 tools of 1 server', servers: 1, tools: 100_000, resources: 0, style: 'resource' },
  { what: '100,000 tools of 10 servers', servers: 10, tools: 100_000, resources: 0, style: 'resource' },
  { what: '100,000 tools of 300 servers', servers: 300, tools: 100_000, resources: 0, style: 'resource' },
  {
    what: '30,000 resources of 300 servers, original',
    servers: 300,
    tools: 0,
    resources: 30_000,
    style: 'original',
  },
  {
    what: '300,000 resources of 300 servers, original',
    servers: 300,
    tools: 0,
    resources: 300_000,
    style: 'original',
  },
];

/** Building the catalog, without servers: every server lists each kind once, and then one of them is removed. */
export async function catalog() {
  const rows = [];
  for (const run of RUNS) rows.push({ ...run, ...(await measure(run)) });
  console.log('| catalog | built, ms CPU | stall, ms | first pages, stall, ms | removal, stall, ms |');
  console.log('| --- | ---: | ---: | ---: | ---: |');
  for (const { what, built, listed, removed } of rows)
    console.log(
      `| ${what} | ${built.cpuMs.toFixed(0)} | ${built.stallMs.toFixed(0)} | ${listed.stallMs.toFixed(0)} | ${removed.stallMs.toFixed(0)} |`,
    );
  console.log();
  const [few, many] = rows.slice(-2);
  return [
    ...rows.flatMap(({ what, built, listed, removed }) => [
      {
        what: `longest stall (ms) with ${what}`,
        is: Math.max(built.stallMs, listed.stallMs, removed.stallMs),
        ceiling: 50,
      },
    ]),
    {
      what: 'CPU time of ten times the resources, original',
      is: many.built.cpuMs / few.built.cpuMs,
      ceiling: 20,
    },
  ];
}

function measure({ servers, tools, resources, style }) {
  const child = fork(WORKER, [servers, tools, resources, style].map(String));
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`catalog-worker.mjs ended (${code})`)));
  });
}
