import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('../harness/catalog-worker.mjs', import.meta.url));

const TOOLS = { resources: 0, style: 'resource', naming: 'always' };
const RESOURCES = { tools: 0, servers: 300, style: 'original', naming: 'always' };
const RUNS = [
  { ...TOOLS, what: '100,000 tools of 1 server', servers: 1, tools: 100_000 },
  { ...TOOLS, what: '100,000 tools of 10 servers', servers: 10, tools: 100_000 },
  { ...TOOLS, what: '100,000 tools of 300 servers', servers: 300, tools: 100_000 },
  {
    ...TOOLS,
    what: '100,000 tools of 10 servers, conflict',
    servers: 10,
    tools: 100_000,
    naming: 'conflict',
  },
  { ...TOOLS, what: '100,000 tools of 10 servers, never', servers: 10, tools: 100_000, naming: 'never' },
  {
    ...RESOURCES,
    what: '30,000 resources at two of 300 servers, original',
    resources: 30_000,
    overlap: true,
  },
  { ...RESOURCES, what: '30,000 resources of 300 servers, original', resources: 30_000 },
  { ...RESOURCES, what: '300,000 resources of 300 servers, original', resources: 300_000 },
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

function measure(run) {
  const child = fork(WORKER, [JSON.stringify(run)]);
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`catalog-worker.mjs ended (${code})`)));
  });
}
