import { membersOf, withMember } from '../../lib/json-text/json-text.js';

/**
 * Keys in the `_meta` of listed entries: the id of the server, the own name of a tool or prompt, and the identifier of a
 * resource or template.
 */
export const SERVER_MARK = 'io.gatehouse/server';
export const NAME_MARK = 'io.gatehouse/name';
export const ID_MARK = 'io.gatehouse/id';

/** The definition with its public name or URI and the gateway's marks in `_meta`. The rest is as the server wrote it. */
export function publicText(
  text: string,
  member: 'name' | 'uri' | 'uriTemplate',
  value: string,
  marks: Readonly<Record<string, string>>,
): string {
  const members = membersOf(text);
  // Of repeated keys the last one counts, as in JSON.parse.
  const meta = members.findLast(({ key }) => key === '_meta');
  const isMetaObject = meta !== undefined && text[meta.start] === '{';
  let result = '';
  let copied = 0;
  for (const { key, start, end } of members) {
    if (key !== member && key !== '_meta') continue;
    result += text.slice(copied, start);
    if (key === member) result += JSON.stringify(value);
    else if (!isMetaObject) result += withMarks('{}', marks);
    else result += text[start] === '{' ? withMarks(text.slice(start, end), marks) : text.slice(start, end);
    copied = end;
  }
  if (meta) return result + text.slice(copied);
  const close = text.lastIndexOf('}');
  const separator = members.length > 0 ? ',' : '';
  return `${result}${text.slice(copied, close)}${separator}"_meta":${withMarks('{}', marks)}${text.slice(close)}`;
}

const withMarks = (meta: string, marks: Readonly<Record<string, string>>): string =>
  Object.entries(marks).reduce((result, [key, mark]) => withMember(result, key, JSON.stringify(mark)), meta);
