import { JsonText, mapMember, membersOf } from '../../lib/json-text/json-text.js';
import type { ToPublicParams } from './fulfil-input.js';

/** A result `input_required` with public URIs in its input requests. The rest of the result does not change. */
export async function withPublicInput(result: JsonText, toPublicParams: ToPublicParams): Promise<JsonText> {
  const requests = result.memberText('inputRequests');
  if (!requests?.startsWith('{')) return result;
  const changed = await withPublicParams(requests, toPublicParams);
  return changed === requests
    ? result
    : new JsonText(mapMember(result.text, 'inputRequests', () => changed, result.members));
}

/** The object `inputRequests` with public URIs in the params of each of its requests. */
async function withPublicParams(requests: string, toPublicParams: ToPublicParams): Promise<string> {
  let text = '';
  let copied = 0;
  for (const { start, end } of membersOf(requests)) {
    if (requests[start] !== '{') continue;
    const request = new JsonText(requests.slice(start, end));
    const params = request.memberText('params');
    if (!params?.startsWith('{')) continue;
    const { text: publicParams } = await toPublicParams(new JsonText(params));
    text += requests.slice(copied, start) + mapMember(request.text, 'params', () => publicParams);
    copied = end;
  }
  return text + requests.slice(copied);
}
