import { elementsOf, memberText, type JsonText } from '../lib/json-text/json-text.js';
import type { ResolvedResource } from '../core/resources/server-resources.js';

/** The MIME type of the first content of a read result. Does not parse its text or blob, which may be large. */
export function mimeTypeOf({ text }: JsonText): string | undefined {
  const contents = text.startsWith('{') ? memberText(text, 'contents') : undefined;
  if (!contents?.startsWith('[')) return undefined;
  const first = elementsOf(contents).next().value;
  const content = first && contents.slice(first.start, first.end);
  return content?.startsWith('{') ? mimeTypeMember(content) : undefined;
}

/** The MIME type in the definition of the resource or its template. */
export function listedMimeTypeOf({ resource, template }: ResolvedResource): string | undefined {
  const listed = resource ?? template;
  return listed && mimeTypeMember(listed.text);
}

function mimeTypeMember(text: string): string | undefined {
  const mimeType = memberText(text, 'mimeType');
  return mimeType?.startsWith('"') ? (JSON.parse(mimeType) as string) : undefined;
}
