import { splitPrefixedName } from '../naming/naming.js';
import { parseResourceForm } from './resource-uri.js';

/** Part of every identifier, after the id of the server and the scheme. */
const ID_MARK_TEXT = '___';

/** The ids in a text that has the resource form or the form of an identifier. A server with such an id owns the text. */
export function* possibleUriOwners(text: string): Iterable<string> {
  const form = parseResourceForm(text);
  if (form) yield form.server;
  else if (text.includes(ID_MARK_TEXT))
    for (const [server, rest] of splitPrefixedName(text, '_')) if (rest.includes(ID_MARK_TEXT)) yield server;
}

/**
 * The servers to which a text belongs, because it has the resource form or the form of an identifier with their id. It
 * never leads to another server, whether its owner has such a resource or not.
 */
export function uriOwners(text: string, servers: ReadonlySet<string>): string[] {
  return [...possibleUriOwners(text)].filter((server) => servers.has(server));
}
