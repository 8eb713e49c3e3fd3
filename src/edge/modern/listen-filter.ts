import type { ListKind } from '../../core/catalog/catalog.js';
import { GatewayError } from '../../core/errors.js';
import { isUriTooLong, MAX_URI_BYTES } from '../../core/resources/resource-uri.js';
import { elementsOf, JsonText, memberText } from '../../lib/json-text/json-text.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';
import type { Steps } from '../../lib/slices/run-sliced.js';
import type { Params } from '../../mcp/json-rpc.js';
import type { ModernContext } from '../../mcp/mcp-context.js';

const FLAGS: Readonly<Record<ListKind, string>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
};

type ParamsText = Partial<Pick<ModernContext, 'paramsText' | 'paramsMembers'>>;

/** The notifications that a client asks for with `subscriptions/listen`. */
export interface ListenFilter {
  /** The kinds of lists for which the client wants `list_changed`. */
  readonly listChanges: readonly ListKind[];
  /** The URIs for which the client wants updates. Undefined if the member is missing. */
  readonly resources: readonly string[] | undefined;
}

/**
 * Reads the filter in the params of `subscriptions/listen`, in steps, because it may have many URIs. Ignores unknown
 * members. Throws if a known member is invalid.
 */
export function* readListenFilter(params: Params | undefined, text: ParamsText = {}): Steps<ListenFilter> {
  const filter = params?.['notifications'];
  if (!isJsonObject(filter)) throw invalid('notifications must be an object');
  const listChanges: ListKind[] = [];
  for (const [kind, flag] of Object.entries(FLAGS) as [ListKind, string][]) {
    const value = filter[flag];
    if (value !== undefined && typeof value !== 'boolean')
      throw invalid(`notifications.${flag} must be a boolean`);
    if (value) listChanges.push(kind);
  }
  const uris = filter['resourceSubscriptions'];
  const longArray = uris === null ? longArrayIn(text) : undefined;
  return {
    listChanges,
    resources: longArray === undefined ? readUris(uris) : yield* readLongArray(longArray),
  };
}

/** The filter in the acknowledgement. `honoured` are the URIs for which the client will receive updates. */
export function honouredFilter(
  { listChanges, resources }: ListenFilter,
  honoured: readonly string[],
): object {
  const flags = listChanges.map((kind) => [FLAGS[kind], true]);
  return { ...Object.fromEntries(flags), ...(resources && { resourceSubscriptions: honoured }) };
}

/**
 * The text of `resourceSubscriptions` if it is an array. A long array is not parsed: its value in the params is null, so the
 * URIs are taken from this text.
 */
function longArrayIn({ paramsText = '{}', paramsMembers }: ParamsText): string | undefined {
  const filter = new JsonText(paramsText, undefined, paramsMembers).memberText('notifications');
  const uris = filter && memberText(filter, 'resourceSubscriptions');
  return uris?.startsWith('[') ? uris : undefined;
}

function* readLongArray(text: string): Steps<readonly string[]> {
  const uris: string[] = [];
  for (const { start, end } of elementsOf(text)) {
    // Only strings are parsed: an array or object may be long.
    if (text[start] !== '"') throw notStrings();
    const uri = JSON.parse(text.slice(start, end)) as string;
    if (isUriTooLong(uri)) throw tooLong();
    uris.push(uri);
    yield;
  }
  return uris;
}

function readUris(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every((uri) => typeof uri === 'string')) throw notStrings();
  if (value.some(isUriTooLong)) throw tooLong();
  return value;
}

const notStrings = (): GatewayError =>
  invalid('notifications.resourceSubscriptions must be an array of strings');
const tooLong = (): GatewayError => invalid(`a URI must not be longer than ${MAX_URI_BYTES} bytes`);

const invalid = (problem: string): GatewayError => new GatewayError('invalid-params', problem);
