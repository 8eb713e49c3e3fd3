import { ResourceGateway } from '../harness/resource-gateway.mjs';

const COUNT = 100_000;
/** With an overlap, every resource of a server conflicts with one of another server. */
const STYLES = [
  { style: 'underscore', overlap: 'none' },
  { style: 'underscore', overlap: 'alike' },
  { style: 'original', overlap: 'none' },
  { style: 'original', overlap: 'same' },
];

const ON_ONE_PAGE = 50_000;

/** The other naming styles, with and without conflicts. */
export async function namingStyles() {
  const rows = [];
  for (const { style, overlap } of STYLES) rows.push({ style, overlap, ...(await measure(style, overlap)) });
  console.log(
    `| ${COUNT.toLocaleString('en')} resources, style | conflicts | listed, ms | first page, ms | stall, ms |`,
  );
  console.log('| --- | --- | ---: | ---: | ---: |');
  for (const { style, overlap, sync, firstPage, stall } of rows)
    console.log(
      `| ${style} | ${overlap} | ${sync.toFixed(0)} | ${firstPage.toFixed(1)} | ${stall.toFixed(0)} |`,
    );
  console.log();
  return rows.map(({ style, overlap, stall }) => ({
    what: `longest stall (ms) in style ${style}, conflicts: ${overlap}, at ${COUNT.toLocaleString('en')}`,
    is: stall,
    ceiling: 50,
  }));
}

async function measure(style, overlap) {
  const gateway = await ResourceGateway.open(COUNT, { naming: { resources: style }, overlap });
  await gateway.stall();
  const sync = await gateway.synced();
  const caller = await gateway.openCaller();
  const firstPage = (await caller.request('resources/list')).ms;
  const { own } = await gateway.stall();
  caller.close();
  await gateway.close();
  return { sync, firstPage, stall: own };
}

/** A server that does not page. */
export async function onePage() {
  const gateway = await ResourceGateway.open(ON_ONE_PAGE, { servers: 1, page: ON_ONE_PAGE });
  await gateway.stall();
  const sync = await gateway.synced();
  const { own } = await gateway.stall();
  await gateway.close();
  const what = `${ON_ONE_PAGE.toLocaleString('en')} resources on one page`;
  console.log(`${what}: listed after ${sync.toFixed(0)} ms, longest stall ${own.toFixed(0)} ms\n`);
  return [{ what: `longest stall (ms) of ${what}`, is: own, ceiling: 50 }];
}
