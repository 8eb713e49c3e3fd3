import { shorten } from '../core/errors.js';
import { membersOf, memberText } from '../lib/json-text/json-text.js';
import { clientLabel } from '../mcp/client-profile.js';
import type { McpContext } from '../mcp/mcp-context.js';

/** By method: the member of its params that names the tool, prompt or resource, and the log field for this name. */
const SUBJECTS: ReadonlyMap<string, readonly [member: string, field: string]> = new Map(
  Object.entries({
    'tools/call': ['name', 'tool'],
    'prompts/get': ['name', 'prompt'],
    'resources/read': ['uri', 'uri'],
    'resources/subscribe': ['uri', 'uri'],
    'resources/unsubscribe': ['uri', 'uri'],
  } as const),
);

/** The log field with the tool, prompt or URI that a request names. An object without fields if it names none. */
export function subjectOf({
  method,
  paramsText,
  paramsMembers,
}: Pick<McpContext, 'method' | 'paramsText' | 'paramsMembers'>): Readonly<Record<string, string>> {
  const [key, field] = SUBJECTS.get(method) ?? [];
  if (key === undefined || paramsText === undefined || !paramsText.startsWith('{')) return {};
  const member = (paramsMembers ?? membersOf(paramsText)).findLast((candidate) => candidate.key === key);
  if (!member) return {};
  const value: unknown = JSON.parse(paramsText.slice(member.start, member.end));
  return typeof value === 'string' ? { [field!]: shorten(value) } : {};
}

/** A longer `clientInfo` is not parsed for the log. */
const MAX_CLIENT_INFO_LENGTH = 16_384;

/** Name and version of the client that sends this `initialize` request. The session has them only after `initialize` succeeds. */
export function initializingClient({
  method,
  paramsText,
}: Pick<McpContext, 'method' | 'paramsText'>): string | undefined {
  if (method !== 'initialize' || paramsText?.startsWith('{') !== true) return undefined;
  const text = memberText(paramsText, 'clientInfo');
  if (text === undefined || text.length > MAX_CLIENT_INFO_LENGTH) return undefined;
  return clientLabel(JSON.parse(text));
}
