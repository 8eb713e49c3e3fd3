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

/** What a client asks for with `subscriptions/listen`. */
export interface ListenFilter {
  readonly listChanges: readonly ListKind[];
  /** Undefined if the client asks for no resources. */
  readonly resources: readonly string[] | undefined;
}

/** The filter in the params of `subscriptions/listen`. Leaves out unknown members: types that the gateway does not support. */
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

/** The part of the filter that the gateway honours, as the acknowledgement contains it. */
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
