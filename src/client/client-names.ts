/** A row that belongs to a session. `client` is the id of the session, `clientName` the name of its client. */
interface ClientRow {
  readonly client: string;
  readonly clientName?: string | undefined;
}

const SHORT_ID_DIGITS = 6;

/**
 * Returns a function that names the client of a row. If clients with the same name have several sessions in the rows, the
 * first digits of the session id follow the name.
 */
export function clientNames(rows: Iterable<ClientRow>): (row: ClientRow) => string {
  const sessionByName = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const { client, clientName } of rows) {
    if (clientName === undefined) continue;
    const otherSession = sessionByName.get(clientName);
    if (otherSession !== undefined && otherSession !== client) ambiguous.add(clientName);
    sessionByName.set(clientName, client);
  }
  return ({ client, clientName }) => {
    if (clientName === undefined) return client;
    return ambiguous.has(clientName) ? `${clientName} ${client.slice(0, SHORT_ID_DIGITS)}` : clientName;
  };
}
