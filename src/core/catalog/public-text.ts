import { mapMember, memberText, withMember } from '../../lib/json-text/json-text.js';

/** Keys in the `_meta` of listed entries: the id of the server, and the identifier of a resource or template. */
export const SERVER_MARK = 'io.gatehouse/server';
export const ID_MARK = 'io.gatehouse/id';

/** The definition under its public name and with the gateway's marks; everything else as the server wrote it. */
export function publicText(
  text: string,
  member: 'name' | 'uri' | 'uriTemplate',
  value: string,
  marks: Readonly<Record<string, string>>,
): string {
  const renamed = mapMember(text, member, () => JSON.stringify(value));
  const marked = (meta: string): string =>
    Object.entries(marks).reduce(
      (result, [key, mark]) => withMember(result, key, JSON.stringify(mark)),
      meta,
    );
  return memberText(renamed, '_meta')?.startsWith('{')
    ? mapMember(renamed, '_meta', (old) => (old.startsWith('{') ? marked(old) : old))
    : withMember(renamed, '_meta', marked('{}'));
}
