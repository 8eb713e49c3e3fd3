import { membersOf, withMember } from '../../lib/json-text/json-text.js';

/** Marks are members that the gateway adds to the `_meta` of listed entries. The value of this one is the server id. */
export const SERVER_MARK = 'io.gatehouse/server';
/** The mark with the own name of a tool or prompt. */
export const NAME_MARK = 'io.gatehouse/name';
/** The mark with the identifier of a resource or template (`underscoreId`). */
export const ID_MARK = 'io.gatehouse/id';

/**
 * The text of a definition with the public `value` in `member` and the marks in `_meta`. The rest is as the server wrote
 * it.
 */
export function publicText(
  text: string,
  member: 'name' | 'uri' | 'uriTemplate',
  value: string,
  marks: Readonly<Record<string, string>>,
): string {
  const members = membersOf(text);
  // If a key is repeated, the last member counts, as in JSON.parse.
  const meta = members.findLast(({ key }) => key === '_meta');
  const isMetaObject = meta !== undefined && text[meta.start] === '{';
  const markedMeta = (metaText: string): string => {
    // A `_meta` that is not an object cannot have marks. It is replaced by an object that has only the marks.
    if (!isMetaObject) return withMarks('{}', marks);
    return metaText.startsWith('{') ? withMarks(metaText, marks) : metaText;
  };
  let result = '';
  let copiedLength = 0;
  for (const { key, start, end } of members) {
    if (key !== member && key !== '_meta') continue;
    result += text.slice(copiedLength, start);
    result += key === member ? JSON.stringify(value) : markedMeta(text.slice(start, end));
    copiedLength = end;
  }
  if (meta) return result + text.slice(copiedLength);
  const close = text.lastIndexOf('}');
  const separator = members.length > 0 ? ',' : '';
  const addedMeta = `${separator}"_meta":${withMarks('{}', marks)}`;
  return result + text.slice(copiedLength, close) + addedMeta + text.slice(close);
}

const withMarks = (meta: string, marks: Readonly<Record<string, string>>): string =>
  Object.entries(marks).reduce((result, [key, mark]) => withMember(result, key, JSON.stringify(mark)), meta);
