import type { AdminDecision } from '../client/admin-types.js';
import { formatAge, formatDecisionEffect, pluralize } from '../client/format.js';
import { printable } from '../client/printable.js';
import type { GatewayOptions } from './command-options.js';
import { openGateway } from './gateway-session.js';
import type { TableColumn } from './table.js';

const COLUMNS: readonly TableColumn[] = [
  { title: 'DECISION', truncate: 'end' },
  { title: 'CHANGE' },
  { title: 'BY' },
  { title: 'AGE', align: 'right' },
  { title: 'EFFECT', truncate: 'end' },
];

export async function listDecisions(options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  const list = await api.decisions();
  if (out.format === 'json') out.json(list);
  else out.table(COLUMNS, list.decisions.map(rowOf), 'no decisions');
}

const rowOf = (decision: AdminDecision): string[] => [
  decision.id,
  decision.change,
  decision.by ?? '-',
  decision.at === undefined ? '-' : formatAge(decision.at, Date.now()),
  formatDecisionEffect(decision),
];

export interface ClearOptions extends GatewayOptions {
  readonly all?: boolean;
}

/** Clears the decisions with these ids, or with `all` every decision for which `isClearedByAll` is true. */
export async function clearDecisions(ids: readonly string[], options: ClearOptions): Promise<void> {
  if (ids.length === 0 && !options.all) throw new RangeError('name decisions, or use --all');
  const { api, out } = await openGateway(options);
  const cleared = options.all
    ? (await api.decisions()).decisions.filter(isClearedByAll).map(({ id }) => id)
    : ids;
  for (const id of cleared) await api.clearDecision(id);
  if (out.format === 'json') out.json({ cleared });
  else if (options.all) out.line(`${pluralize(cleared.length, 'decision')} cleared`);
  else for (const id of cleared) out.line(printable(`${id} cleared`));
}

/**
 * False for a definition of a server or project that is not in the configuration file, because clearing the definition would
 * delete the server or project. If a definition overrules the file or is ignored, its server or project is in the file.
 */
const isClearedByAll = ({ change, overrules, effect }: AdminDecision): boolean =>
  change !== 'defined' || overrules || effect === 'ignored';
