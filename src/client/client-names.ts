/** A row that belongs to a session: its id, and the name of its client. */
interface ClientRow {
  readonly client: string;
  readonly clientName?: string | undefined;
}

const SHORT_ID_DIGITS = 6;

/** The name of the client of a row; with the first digits of the session id if other rows have another session of that name. */
export function clientNames(rows: Iterable<ClientRow>): (row: ClientRow) => string {
  const sessions = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const { client, clientName } of rows) {
    if (clientName === undefined) continue;
    if ((sessions.get(clientName) ?? client) !== client) ambiguous.add(clientName);
    sessions.set(clientName, client);
  }
  return ({ client, clientName }) => {
    if (clientName === undefined) return client;
    return ambiguous.has(clientName) ? `${clientName} ${client.slice(0, SHORT_ID_DIGITS)}` : clientName;
  };
}
