import type { ListKind } from '../../core/catalog/catalog.js';
import { GatewayError } from '../../core/errors.js';
import { isUriTooLong, MAX_URI_BYTES } from '../../core/resources/resource-uri.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';
import type { Params } from '../../mcp/json-rpc.js';

const FLAGS: Readonly<Record<ListKind, string>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
};

/** The notifications that a client asks for with `subscriptions/listen`. */
export interface ListenFilter {
  /** The kinds of lists for which the client wants `list_changed`. */
  readonly listChanges: readonly ListKind[];
  /** The URIs for which the client wants updates. Undefined if the member is missing. */
  readonly resources: readonly string[] | undefined;
}

/**
 * Reads the filter in the params of `subscriptions/listen`. Ignores unknown members. Throws if a known member is
 * invalid.
 */
export function readListenFilter(params: Params | undefined): ListenFilter {
  const filter = params?.['notifications'];
  if (!isJsonObject(filter)) throw invalid('notifications must be an object');
  const listChanges: ListKind[] = [];
  for (const [kind, flag] of Object.entries(FLAGS) as [ListKind, string][]) {
    const value = filter[flag];
    if (value !== undefined && typeof value !== 'boolean')
      throw invalid(`notifications.${flag} must be a boolean`);
    if (value) listChanges.push(kind);
  }
  return { listChanges, resources: readUris(filter['resourceSubscriptions']) };
}

/** The filter in the acknowledgement. `honoured` are the URIs for which the client will receive updates. */
export function honouredFilter(
  { listChanges, resources }: ListenFilter,
  honoured: readonly string[],
): object {
  const flags = listChanges.map((kind) => [FLAGS[kind], true]);
  return { ...Object.fromEntries(flags), ...(resources && { resourceSubscriptions: honoured }) };
}

function readUris(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every((uri) => typeof uri === 'string'))
    throw invalid('notifications.resourceSubscriptions must be an array of strings');
  if (value.some(isUriTooLong)) throw invalid(`a URI must not be longer than ${MAX_URI_BYTES} bytes`);
  return value;
}

const invalid = (problem: string): GatewayError => new GatewayError('invalid-params', problem);
