import { memberText, type JsonText } from '../lib/json-text/json-text.js';
import { elementSteps, memberSteps } from '../lib/json-text/sliced-text.js';
import type { ResolvedResource } from '../core/resources/server-resources.js';
import type { Steps } from '../lib/slices/run-sliced.js';

/** The MIME type of the first content of a read result. Does not parse its text or blob, which may be large. */
export function* mimeTypeOf(result: JsonText): Steps<string | undefined> {
  const contents = result.memberText('contents');
  if (!contents?.startsWith('[')) return undefined;
  for (const element of elementSteps(contents)) {
    if (element) return yield* mimeTypeIn(contents.slice(element.start, element.end));
    yield;
  }
  return undefined;
}

function* mimeTypeIn(content: string): Steps<string | undefined> {
  if (!content.startsWith('{')) return undefined;
  const member = (yield* memberSteps(content)).findLast(({ key }) => key === 'mimeType');
  return member && stringIn(content.slice(member.start, member.end));
}

/** The MIME type in the definition of the resource or its template. */
export function listedMimeTypeOf({ resource, template }: ResolvedResource): string | undefined {
  const listed = resource ?? template;
  return listed && stringIn(memberText(listed.text, 'mimeType'));
}

const stringIn = (text: string | undefined): string | undefined =>
  text?.startsWith('"') ? (JSON.parse(text) as string) : undefined;
