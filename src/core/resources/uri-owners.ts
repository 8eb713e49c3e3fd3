import { splitPrefixedName } from '../naming/naming.js';
import { parseResourceForm } from './resource-uri.js';

/** Separates the scheme and the rest of the URI in every identifier (`underscoreId`). */
const ID_SEPARATOR = '___';

/**
 * The parts of a text that would be the server id if the text is a resource form or an identifier. If a server with such
 * an id is configured, the whole text belongs to that server.
 */
export function* possibleUriOwners(text: string): Iterable<string> {
  const form = parseResourceForm(text);
  if (form) yield form.server;
  else if (text.includes(ID_SEPARATOR))
    for (const [server, rest] of splitPrefixedName(text, '_')) if (rest.includes(ID_SEPARATOR)) yield server;
}

/**
 * The servers to which a text belongs, because it is a resource form or an identifier with their id. The text leads to
 * no other server, even if its owner does not have such a resource.
 */
export function uriOwners(text: string, servers: ReadonlySet<string>): string[] {
  return [...possibleUriOwners(text)].filter((server) => servers.has(server));
}
