import { ResourceStage } from '../resource-stage.mjs';
import { resourceText } from '../resources.mjs';

const COUNT = 100_000;
/** Servers that meet two by two, so that everything they list has to give way. */
const STYLES = [
  { style: 'underscore', overlap: 'none' },
  { style: 'underscore', overlap: 'alike' },
  { style: 'original', overlap: 'none' },
  { style: 'original', overlap: 'same' },
];

const ON_ONE_PAGE = 50_000;

/** The other styles of naming, with and without names that meet: the first page after the start has most to do. */
export async function otherStyles() {
  const rows = [];
  for (const { style, overlap } of STYLES) rows.push({ style, overlap, ...(await measure(style, overlap)) });
  console.log(
    `| ${COUNT.toLocaleString('en')} resources, style | meet | listed, ms | first page, ms | stall, ms |`,
  );
  console.log('| --- | --- | ---: | ---: | ---: |');
  for (const { style, overlap, sync, firstPage, stall } of rows)
    console.log(
      `| ${style} | ${overlap} | ${sync.toFixed(0)} | ${firstPage.toFixed(1)} | ${stall.toFixed(0)} |`,
    );
  console.log();
  return rows.map(({ style, overlap, stall }) => ({
    what: `longest stall (ms) in style ${style}, meeting: ${overlap}, at ${COUNT.toLocaleString('en')}`,
    is: stall,
    ceiling: 50,
  }));
}

async function measure(style, overlap) {
  const stage = await ResourceStage.open(COUNT, { naming: { resources: style }, overlap });
  await stage.stall();
  const sync = await stage.synced();
  const caller = await stage.openCaller();
  const firstPage = (await caller.request('resources/list')).ms;
  const { own } = await stage.stall();
  caller.close();
  await stage.close();
  return { sync, firstPage, stall: own };
}

/**
 * A server that does not page. The message has to be parsed once as a whole, to know what it is, and nothing else runs
 * meanwhile: what that takes, here and now, is not counted.
 */
export async function onOnePage() {
  const parse = timeToParse();
  const stage = await ResourceStage.open(ON_ONE_PAGE, { servers: 1, page: ON_ONE_PAGE });
  await stage.stall();
  const sync = await stage.synced();
  const { own } = await stage.stall();
  await stage.close();
  const what = `${ON_ONE_PAGE.toLocaleString('en')} resources on one page`;
  console.log(`${what}: listed after ${sync.toFixed(0)} ms, longest stall ${own.toFixed(0)} ms,`);
  console.log(`of which ${parse.toFixed(0)} ms are one JSON.parse of the page\n`);
  return [{ what: `longest stall (ms) of ${what}, but for parsing it`, is: own - parse, ceiling: 50 }];
}

function timeToParse() {
  const texts = Array.from({ length: ON_ONE_PAGE }, (_, index) => resourceText(0, index));
  const page = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"resources":[${texts.join(',')}]}}`);
  // Once, as the gateway does it: the second time has the room that the first one made.
  const before = process.cpuUsage();
  JSON.parse(page.toString());
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
