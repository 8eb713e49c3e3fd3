import { memberText, type JsonText } from '../lib/json-text/json-text.js';
import { elementSteps, namedMemberSteps, editableJson } from '../lib/json-text/sliced-text.js';
import type { ResolvedResource } from '../core/resources/server-resources.js';
import type { Steps } from '../lib/slices/run-sliced.js';

/** Maximum characters of a MIME type as a JSON string. A longer one counts as unknown. */
const MAX_JSON_LENGTH = 256;

/**
 * The MIME type of the first content in a read result. Does not parse the text or blob of the content, which may be
 * large.
 */
export function* mimeTypeOf(result: JsonText): Steps<string | undefined> {
  if (!result.isObject) return undefined;
  const source = yield* editableJson(result);
  const contents = source.members.findLast(({ key }) => key === 'contents');
  if (!contents || source.text[contents.start] !== '[') return undefined;
  for (const element of elementSteps(source.text, contents.start)) {
    yield;
    if (!element) continue;
    if (source.text[element.start] !== '{') return undefined;
    const member = (yield* namedMemberSteps(source.text, ['mimeType'], element.start)).at(-1);
    if (!member || member.end - member.start > MAX_JSON_LENGTH) return undefined;
    return stringIn(source.decode(member.start, member.end));
  }
  return undefined;
}

/** The MIME type in the definition of the resource or its template. */
export function listedMimeTypeOf({ resource, template }: ResolvedResource): string | undefined {
  const definition = resource ?? template;
  return definition && stringIn(memberText(definition.text, 'mimeType'));
}

/** The value of a JSON text that is a string; undefined for any other text. */
const stringIn = (text: string | undefined): string | undefined =>
  text?.startsWith('"') ? (JSON.parse(text) as string) : undefined;
