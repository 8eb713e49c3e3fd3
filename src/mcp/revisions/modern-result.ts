import { SharedJson, type JsonText } from '../../lib/json-text/json-text.js';
import { ScannedObject } from '../../lib/json-text/scanned-object.js';
import { resultHead } from '../json-rpc.js';
import type { McpContext } from '../mcp-context.js';
import { ANONYMOUS } from '../principal.js';
import { isPlainlyComplete } from '../result-kind.js';

/** What decides how a result is written. */
type AnsweredRequest = Pick<McpContext, 'requestId' | 'method' | 'principal'>;

/** A result message of revision 2026-07-28. `head` is followed by `result` from its second character on, and a brace. */
interface ModernResult {
  readonly head: string;
  readonly result: JsonText;
}

const COMPLETE = '"resultType":"complete"';
const FIRST_COMPLETE = `{${COMPLETE},`;
const FIRST_CONTENT = '"content":';
const CACHE_SCOPE: ReadonlySet<string> = new Set(['cacheScope']);
const NOT_CACHEABLE = '"ttlMs":0,"cacheScope":"private"';

/** Results that clients may cache, and therefore must say for how long. A list must not be: its servers can be disabled. */
const OWN_CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);

/**
 * The result as revision 2026-07-28 requires it. The members that it lacks come first, so that the rest need not be read:
 * a page of a list stays the same bytes for clients of both eras.
 */
export function modernResult(request: AnsweredRequest, result: JsonText): ModernResult {
  const { method, requestId } = request;
  if (OWN_CACHEABLE.has(method)) return headed(requestId!, `${COMPLETE},${NOT_CACHEABLE}`, result);
  const kind = typeIn(result);
  // Only complete results can be cached, and have a content.
  if (kind === '"input_required"') return headed(requestId!, '', result);
  const first = kind === undefined ? [COMPLETE] : [];
  if (method === 'tools/call' && !hasContent(result)) first.push('"content":[]');
  if (method !== 'resources/read') return headed(requestId!, first.join(','), result);
  if (memberOf(result, 'ttlMs') === undefined) first.push('"ttlMs":0');
  const scope = memberOf(result, 'cacheScope');
  // Another principal may not be allowed to read the same resource.
  const isShared = scope !== undefined && scope !== '"private"' && request.principal !== ANONYMOUS;
  if (scope === undefined || isShared) first.push('"cacheScope":"private"');
  return headed(requestId!, first.join(','), isShared ? result.without(CACHE_SCOPE) : result);
}

function headed(
  id: NonNullable<AnsweredRequest['requestId']>,
  first: string,
  result: JsonText,
): ModernResult {
  const separator = first === '' || isEmpty(result) ? '' : ',';
  return { head: `${resultHead(id)}{${first}${separator}`, result };
}

/** The text of `resultType`. Most servers write it first, and no other one. */
function typeIn(result: JsonText): string | undefined {
  if (
    result instanceof ScannedObject ||
    !result.text.startsWith(FIRST_COMPLETE) ||
    !isPlainlyComplete(result.text)
  )
    return memberOf(result, 'resultType');
  return '"complete"';
}

/** The text of a member. Most results do not contain the key at all. */
const memberOf = (result: JsonText, key: string): string | undefined =>
  result.mayHaveMember(key) ? result.memberText(key) : undefined;

const hasContent = (result: JsonText): boolean =>
  (!(result instanceof ScannedObject) && beginsWithContent(result.text)) ||
  result.firstCharacterOf('content') !== undefined;

const beginsWithContent = (text: string): boolean =>
  text.startsWith(FIRST_CONTENT, text.startsWith(FIRST_COMPLETE) ? FIRST_COMPLETE.length : 1);

function isEmpty(result: JsonText): boolean {
  if (result instanceof SharedJson) return result.bytes.length < 64 && /^\{\s*\}$/.test(result.text);
  return /^\{\s*\}/.test(result.text);
}
