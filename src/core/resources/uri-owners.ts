import { splitPrefixedName } from '../naming/naming.js';
import { parseResourceForm } from './resource-uri.js';

/** Part of every identifier, after the id of the server and the scheme. */
const ID_MARK_TEXT = '___';

/** Whether a text may be the resource form or the identifier of a resource of some server. */
export const mayHaveOwner = (text: string): boolean =>
  text.includes(ID_MARK_TEXT) || parseResourceForm(text) !== undefined;

/**
 * The servers to which a text belongs, because it has the resource form or the form of an identifier with their id. It
 * never leads to another server, whether its owner has such a resource or not.
 */
export function uriOwners(text: string, servers: ReadonlySet<string>): string[] {
  const form = parseResourceForm(text);
  if (form) return servers.has(form.server) ? [form.server] : [];
  if (!text.includes(ID_MARK_TEXT)) return [];
  const owners: string[] = [];
  for (const [server, rest] of splitPrefixedName(text, '_'))
    if (servers.has(server) && rest.includes(ID_MARK_TEXT)) owners.push(server);
  return owners;
}
