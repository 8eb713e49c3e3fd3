import { UriTemplate } from '../../build/lib/uri-template/uri-template.js';
import { median } from '../harness/statistics.mjs';

const RUNS = 50;

const long = (length, character = 'a') => character.repeat(length);

/** Templates and URIs that are slow to match. The SDK's matcher takes seconds for the first. */
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

/** Time to match a URI against a template. */
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

/** The median, because other processes share the machine. */
function timeOf(template, uri) {
  const times = Array.from({ length: RUNS }, () => {
    const beganAt = performance.now();
    template.match(uri);
    return performance.now() - beganAt;
  });
  return median(times);
}
