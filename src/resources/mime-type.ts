import { elementsOf, memberText, type JsonText } from '../core/json-text.js';

/** The type of the first content of a read, without parsing what may be a large text or blob beside it. */
export function mimeTypeOf({ text }: JsonText): string | undefined {
  const contents = text.startsWith('{') ? memberText(text, 'contents') : undefined;
  if (!contents?.startsWith('[')) return undefined;
  const first = elementsOf(contents).next().value;
  const content = first && contents.slice(first.start, first.end);
  const mimeType = content?.startsWith('{') ? memberText(content, 'mimeType') : undefined;
  return mimeType?.startsWith('"') ? (JSON.parse(mimeType) as string) : undefined;
}
