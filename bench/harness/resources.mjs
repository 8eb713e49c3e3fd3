export const SERVERS = 20;
export const PAGE = 1000;

const TOPICS =
  'revenue invoice customer onboarding incident postmortem migration capacity budget forecast security audit ' +
  'retention pricing roadmap contract supplier inventory shipment payroll compliance architecture latency backup ' +
  'schema release training survey campaign partner refund warehouse metrics billing catalog identity session ledger';
const KINDS = 'report summary notes plan review checklist minutes draft analysis overview';
const TEAMS = 'payments platform growth search mobile finance legal support data research';
const FORMATS = [
  ['md', 'text/markdown'],
  ['json', 'application/json'],
  ['csv', 'text/csv'],
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
];

const topics = TOPICS.split(' ');
const kinds = KINDS.split(' ');
const teams = TEAMS.split(' ');

/** Maps neighbouring numbers to scattered ones, the same in every run. */
const scatter = (number, many) => (Math.imul(number + 1, 2_654_435_761) >>> 8) % many;

/** The definition of one file, with words of a small vocabulary and a unique number in its name. */
export function resourceText(server, index) {
  const number = String(index * SERVERS + server).padStart(7, '0');
  const topic = topics[scatter(index, topics.length)];
  const other = topics[scatter(index + 7919, topics.length)];
  const kind = kinds[scatter(index + 104_729, kinds.length)];
  const team = teams[scatter(index + server, teams.length)];
  const [ending, mimeType] = FORMATS[index % FORMATS.length];
  const file = `${topic}-${kind}-${number}.${ending}`;
  return (
    `{"uri":"file:///srv/${team}/${2015 + (index % 11)}/${topic}/${file}","name":"${file}",` +
    `"title":"${topic} ${kind} of ${team} ${number}",` +
    `"description":"The ${kind} on ${topic} and ${other} that the ${team} team keeps.",` +
    `"mimeType":"${mimeType}","size":${1000 + (index % 90_000)}}`
  );
}

/**
 * The definition where pairs of servers conflict. With `same`, both list the same URIs. With `alike`, both list URIs with the
 * same underscore identifier: `b+file:…` of `server-0` and `file:…` of `server-0_b` both become `server-0_b_file…`.
 */
export function listedText(overlap, server, index) {
  if (overlap === 'none') return resourceText(server, index);
  const isFirst = server % 2 === 0;
  const text = resourceText(isFirst ? server : server - 1, index);
  return overlap === 'alike' && isFirst ? text.replace('"uri":"file:', '"uri":"b+file:') : text;
}

export const serverName = (overlap, server) =>
  overlap === 'alike' && server % 2 === 1 ? `server-${server - 1}_b` : `server-${server}`;

/** Size of all definitions of one run. */
export function bytesOfTexts(count) {
  let bytes = 0;
  for (let server = 0; server < SERVERS; server++)
    for (let index = 0; index < count / SERVERS; index++) bytes += resourceText(server, index).length;
  return bytes;
}

/** Queries with a MIME type: one that few matches have, one that no resource has, and a wildcard. */
export const FILTERED = [
  { query: 'incident', mimeType: 'image/png' },
  { query: 'the team keeps', mimeType: 'audio/ogg' },
  { query: 'file', mimeType: 'text/*' },
];

/** Queries: a common word, several words, a prefix, a typo, a unique word. */
export const QUERIES = [
  'incident',
  'incident postmortem payments',
  'quarterly revenue forecast of the finance team',
  'comp',
  'archtecture review',
  'invoice-report-0000020',
  'application/pdf contract',
];
