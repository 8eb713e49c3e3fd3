import { splitPrefixedName } from '../naming/naming.js';
import { parseResourceForm } from './resource-uri.js';

/** Separates the scheme of the URI from its rest in every identifier. */
const ID_SEPARATOR = '___';

/** What stands for the server id in a resource form or identifier. A server with such an id owns the whole text. */
export function* possibleUriOwners(text: string): Iterable<string> {
  const form = parseResourceForm(text);
  if (form) yield form.server;
  else if (text.includes(ID_SEPARATOR))
    for (const [server, rest] of splitPrefixedName(text, '_')) if (rest.includes(ID_SEPARATOR)) yield server;
}

/**
 * The servers to which a text belongs, because it has the resource form or the form of an identifier with their id. The
 * text leads to no other server, whether or not its owner has such a resource.
 */
export function uriOwners(text: string, servers: ReadonlySet<string>): string[] {
  return [...possibleUriOwners(text)].filter((server) => servers.has(server));
}
