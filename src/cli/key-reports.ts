import { formatDecision } from '../client/format.js';
import { printable } from '../client/printable.js';
import type { GatewayOptions } from './command-options.js';
import { openGateway } from './gateway-session.js';
import type { TableColumn } from './table.js';

const COLUMNS: readonly TableColumn[] = [
  { title: 'KEY' },
  { title: 'STATE' },
  { title: 'PROJECTS', truncate: 'end' },
  { title: 'EXPIRES' },
  { title: 'SESSIONS', align: 'right' },
  { title: 'DECIDED', truncate: 'end', isOptional: true },
];

export async function listKeys(options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  const keys = await api.keys();
  if (out.format === 'json') {
    out.json({ keys });
    return;
  }
  const rows = keys.map(({ id, state, projects, expires, sessions, decision }) => [
    id,
    state,
    projects.join(', '),
    expires?.slice(0, 'YYYY-MM-DD'.length) ?? 'never',
    String(sessions),
    decision ? formatDecision(decision) : '',
  ]);
  out.table(COLUMNS, rows, 'no keys');
}

export async function revokeKey(id: string, options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  const key = await api.revokeKey(id);
  if (out.format === 'json') out.json(key);
  else out.line(printable(`${id} is revoked`));
}
