import { UriTemplate } from '../../build/lib/uri-template/uri-template.js';

const TURNS = 50;
const long = (length, character = 'a') => character.repeat(length);

/** Templates of servers and URIs of clients, either of them hostile. The SDK takes seconds for the first. */
const INPUTS = [
  ['x://{a}{b}{c}/end', `x://${long(4096)}`],
  ['x://{a}{b}{c}/end', `x://${long(8180)}`],
  ['x://{a}{b}{c}/end', `x://${long(8170)}/end`],
  ['x://{a}{b}{c}/end', `x://${long(2000, '/end')}`],
  ['x://{/id*}', `x://${long(8000, '/')}`],
  ['x://{/id*}', `x://${long(4000, '/a')}!`],
  ['x://{?a*,b*,c*}', `x://?${long(2000, 'a=b&')}`],
  ['x://{+a}{+b}{+c}{+d}{+e}/end', `x://${long(8170, 'a/')}`.slice(0, 8190)],
  [`x://${Array.from({ length: 16 }, (_, n) => `{v${n}}-`).join('')}`, `x://${long(4000, '1-')}`],
];

/** What it takes to see whether a URI is an instance of a template. */
export async function templates() {
  const rows = INPUTS.map(([template, uri]) => ({
    template,
    uri,
    ms: timeOf(UriTemplate.parse(template), uri),
  }));
  console.log('| template | URI, characters | ms |\n| --- | ---: | ---: |');
  for (const { template, uri, ms } of rows)
    console.log(`| \`${template.slice(0, 40)}\` | ${uri.length} | ${ms.toFixed(2)} |`);
  console.log();
  return [
    { what: 'slowest match (ms) of a template', is: Math.max(...rows.map(({ ms }) => ms)), ceiling: 5 },
  ];
}

/** The median: what others do on the machine is not counted against it. */
function timeOf(template, uri) {
  const times = Array.from({ length: TURNS }, () => {
    const beganAt = performance.now();
    template.match(uri);
    return performance.now() - beganAt;
  });
  return times.toSorted((a, b) => a - b)[Math.floor(TURNS / 2)];
}
