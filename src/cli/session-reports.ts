import type { SessionItem } from '../client/admin-types.js';
import { formatAge, formatCount, formatLastSeen, formatListen, formatScope } from '../client/format.js';
import { printable } from '../client/printable.js';
import type { ListOptions } from './catalog-reports.js';
import type { GatewayOptions } from './command-options.js';
import { openGateway } from './gateway-session.js';
import type { TableColumn } from './table.js';

const COLUMNS: readonly TableColumn[] = [
  { title: 'SESSION' },
  { title: 'CLIENT', truncate: 'end' },
  { title: 'PRINCIPAL', truncate: 'end' },
  { title: 'PROJECT', truncate: 'end' },
  { title: 'SCOPE', truncate: 'end', isOptional: true },
  { title: 'ERA', isOptional: true },
  { title: 'STREAMS', align: 'right' },
  { title: 'SUBS', align: 'right', isOptional: true },
  { title: 'CALLS', align: 'right' },
  { title: 'RUNNING', align: 'right', isOptional: true },
  { title: 'AGE', align: 'right', isOptional: true },
  { title: 'SEEN', align: 'right' },
];

export async function listSessions(options: ListOptions, q?: string): Promise<void> {
  const { api, out } = await openGateway(options);
  const { rows, hasMore } = await api.rows('sessions', { project: options.project, q }, options.limit);
  if (out.format === 'json') out.json({ sessions: rows });
  else out.table(COLUMNS, rows.map(rowOf), 'no sessions');
  if (hasMore) out.note('more entries exist; raise --limit to see them');
}

const rowOf = (session: SessionItem): string[] => [
  session.id,
  clientOf(session),
  session.principal,
  session.project ?? '-',
  session.scope.map(formatScope).join('; '),
  session.era,
  String(session.streams),
  String(session.subscriptions),
  formatCount(session.calls),
  String(session.inFlight),
  formatAge(session.opened, Date.now()),
  formatLastSeen(session, Date.now()),
];

const clientOf = ({ client }: SessionItem): string => (client ? `${client.name} ${client.version}` : '-');

export async function showSession(id: string, options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  const session = await api.session(id);
  if (out.format === 'json') {
    out.json(session);
    return;
  }
  const fields: [string, string | undefined][] = [
    ['client', clientOf(session)],
    ['principal', session.principal],
    ['project', session.project],
    ...(session.scope.length === 0 ? [{ servers: [] }] : session.scope).map((part): [string, string] => [
      'scope',
      formatScope(part),
    ]),
    ['protocol', `${session.protocolVersion} (era ${session.era})`],
    ['listens to', formatListen(session)],
    ['opened', session.opened],
    ['last seen', session.lastSeen],
    ['calls', `${formatCount(session.calls)} (${session.inFlight} running)`],
    ['streams', session.hasStream ? formatCount(session.streams) : 'none: the client gets no notifications'],
    ['subscriptions', formatCount(session.subscriptions)],
    ...session.unfinishedLists.map(({ method, entries }): [string, string] => [
      'unread pages',
      `${method}: only ${formatCount(entries)} entries were read`,
    ]),
  ];
  out.line(out.paint('bold', printable(session.id)));
  for (const [name, value] of fields)
    if (value !== undefined) out.line(`  ${name.padEnd(13)}  ${printable(value)}`);
}

export async function endSession(id: string, options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  await api.endSession(id);
  if (out.format === 'json') out.json({ id, ended: true });
  else out.line(`session ${printable(id)} ended`);
}
