import { SharedJson, type JsonText } from '../../lib/json-text/json-text.js';
import { ScannedObject } from '../../lib/json-text/scanned-object.js';
import { resultHead } from '../json-rpc.js';
import type { McpContext } from '../mcp-context.js';
import { ANONYMOUS } from '../principal.js';
import { parsedResultType } from '../result-kind.js';

/** The parts of a request that decide how its result is written. */
type AnsweredRequest = Pick<McpContext, 'requestId' | 'method' | 'principal'>;

/**
 * A result message of revision 2026-07-28: the text `head`, then the text of `result` without its opening brace, then the
 * closing brace of the message.
 */
interface ModernResult {
  readonly head: string;
  readonly result: JsonText;
}

const COMPLETE = '"resultType":"complete"';
const FIRST_COMPLETE = `{${COMPLETE},`;
const FIRST_CONTENT = '"content":';
const CACHE_SCOPE: ReadonlySet<string> = new Set(['cacheScope']);
const NOT_CACHEABLE = '"ttlMs":0,"cacheScope":"private"';
/** The codes of the white space that JSON allows: space, tab, line feed and carriage return. */
const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const QUOTE = 0x22;
const CLOSING_BRACE = 0x7d;

/**
 * Methods whose results the gateway writes itself. The revision requires that these results say how long clients may cache them.
 * The gateway allows no caching, because a server can be disabled at any time.
 */
const OWN_RESULT_METHODS: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);

/**
 * The result with all members that revision 2026-07-28 requires. Missing members are written before the others, so that the
 * text of the result need not change: clients of both eras get the same bytes of a page of a list.
 */
export function modernResult(request: AnsweredRequest, result: JsonText): ModernResult {
  const { method, requestId } = request;
  if (OWN_RESULT_METHODS.has(method)) return withFirst(requestId!, `${COMPLETE},${NOT_CACHEABLE}`, result);
  const resultType = parsedResultType(result);
  // This result needs no further members: only complete results have content and can be cached.
  if (resultType === 'input_required') return withFirst(requestId!, '', result);
  if (method === 'tools/call' && hasContent(result))
    return { head: resultHead(requestId!) + (resultType === undefined ? FIRST_COMPLETE : '{'), result };
  const missing = resultType === undefined ? [COMPLETE] : [];
  if (method === 'tools/call') missing.push('"content":[]');
  if (method !== 'resources/read') return withFirst(requestId!, missing.join(','), result);
  if (memberOf(result, 'ttlMs') === undefined) missing.push('"ttlMs":0');
  const cacheScope = memberOf(result, 'cacheScope');
  // Another principal may not be allowed to read the same resource.
  const isTooPublic =
    cacheScope !== undefined && cacheScope !== '"private"' && request.principal !== ANONYMOUS;
  if (cacheScope === undefined || isTooPublic) missing.push('"cacheScope":"private"');
  return withFirst(requestId!, missing.join(','), isTooPublic ? result.without(CACHE_SCOPE) : result);
}

/** The result message with the text `members` in front of the other members. */
function withFirst(
  id: NonNullable<AnsweredRequest['requestId']>,
  members: string,
  result: JsonText,
): ModernResult {
  const separator = members === '' || isEmpty(result) ? '' : ',';
  return { head: `${resultHead(id)}{${members}${separator}`, result };
}

/** The text of a member. Most results do not contain the key at all. */
const memberOf = (result: JsonText, key: string): string | undefined =>
  result.mayHaveMember(key) ? result.memberText(key) : undefined;

const hasContent = (result: JsonText): boolean =>
  (!(result instanceof ScannedObject) && beginsWithContent(result.text)) ||
  result.firstCharacterOf('content') !== undefined;

/** Whether `content` is the first member, or the second after `resultType`. */
const beginsWithContent = (text: string): boolean =>
  text.startsWith(FIRST_CONTENT, text.startsWith(FIRST_COMPLETE) ? FIRST_COMPLETE.length : 1);

function isEmpty(result: JsonText): boolean {
  if (!(result instanceof SharedJson))
    return result.text.charCodeAt(1) !== QUOTE && /^\{\s*\}/.test(result.text);
  // Reading the text of a scanned object would decode all of its bytes.
  const { bytes } = result;
  let index = 1;
  while (WHITE_SPACE.has(bytes[index]!)) index++;
  return bytes[index] === CLOSING_BRACE;
}
