import type { SessionItem, SubscriptionItem } from '../../client/admin-types.js';
import { clientNames } from '../../client/client-names.js';
import { formatCompact, formatLastSeen, formatScope } from '../../client/format.js';
import type { ListRow } from './list-row.js';
import type { Model } from './model.js';
import { rowsInMemory, type PagedList } from './paged-list.js';
import type { TuiColumn } from './tui-column.js';

/** Name and version of a client; its session id if it sent no name. */
export const programOf = ({ id, client }: SessionItem): string =>
  client ? `${client.name} ${client.version}` : id;

/** Returns a function that reads the text of a cell from a client. The text is empty for rows of other kinds. */
const ofClient =
  (read: (session: SessionItem, model: Model) => string): TuiColumn['text'] =>
  (row, model) =>
    row.kind === 'client' ? read(row.item, model) : '';

const countColumn = (
  title: string,
  width: number,
  minListWidth: number,
  read: (session: SessionItem) => number,
): TuiColumn => ({
  title,
  width,
  minListWidth,
  align: 'right',
  text: ofClient((session) => formatCompact(read(session))),
});

export const CLIENTS: readonly TuiColumn[] = [
  { title: 'CLIENT', width: { share: 3 }, text: ofClient(programOf) },
  { title: 'ERA', width: 4, minListWidth: 70, text: ofClient(({ era }) => era) },
  {
    title: 'PRINCIPAL',
    width: { share: 2 },
    minListWidth: 48,
    text: ofClient(({ principal }) => principal),
  },
  { title: 'PROJECT', width: 10, minListWidth: 60, text: ofClient(({ project = '-' }) => project) },
  {
    title: 'SCOPE',
    width: { share: 4 },
    minListWidth: 90,
    text: ofClient(({ scope }) => scope.map(formatScope).join('; ')),
    style: () => 'dim',
  },
  countColumn('STREAMS', 7, 50, ({ streams }) => streams),
  countColumn('SUBS', 4, 50, ({ subscriptions }) => subscriptions),
  countColumn('CALLS', 5, 0, ({ calls }) => calls),
  {
    title: 'SEEN',
    width: 6,
    align: 'right',
    text: ofClient((session, { now }) => formatLastSeen(session, now)),
  },
];

/** By list of subscriptions: the function that names their clients. Cached, because every row needs the function. */
const namesByList = new WeakMap<PagedList, ReturnType<typeof clientNames>>();

/** The name of the client that has the subscription. */
export function subscriberName(row: ListRow, { lists }: Model): string {
  if (row.kind !== 'subscription') return '';
  const { paged } = lists.subscriptions;
  const nameOf = namesByList.get(paged) ?? clientNames(subscriptionsIn(paged));
  namesByList.set(paged, nameOf);
  return nameOf(row.item);
}

const subscriptionsIn = (list: PagedList): SubscriptionItem[] =>
  rowsInMemory(list).flatMap((row) => (row.kind === 'subscription' ? row.item : []));
