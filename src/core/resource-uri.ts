import { createHash } from 'node:crypto';

/** How resources are called in the lists. Whatever the style, every form is understood. */
export type ResourceStyle = 'resource' | 'underscore' | 'original';

/** A resource by its server and the URI that the server has for it. */
export interface Address {
  readonly server: string;
  readonly uri: string;
}

const RESOURCE_SCHEME = 'resource://';
/** Hosts of MCP apps know a user interface by this scheme, so that it stays what it is under every style. */
const UI_SCHEME = 'ui://';

export const isUi = (uri: string): boolean => uri.startsWith(UI_SCHEME);

/** The form from which the way back is a cut: the server, then the whole URI as the server wrote it. */
export function resourceForm({ server, uri }: Address): string {
  return isUi(uri)
    ? `${UI_SCHEME}${server}/${uri.slice(UI_SCHEME.length)}`
    : `${RESOURCE_SCHEME}${server}/${uri}`;
}

/** What a text in the resource form stands for. Whether there is such a server is not known here. */
export function cutResourceForm(text: string): Address | undefined {
  const scheme = [RESOURCE_SCHEME, UI_SCHEME].find((candidate) => text.startsWith(candidate));
  if (scheme === undefined) return undefined;
  const slash = text.indexOf('/', scheme.length);
  if (slash <= scheme.length) return undefined;
  const rest = text.slice(slash + 1);
  return {
    server: text.slice(scheme.length, slash),
    uri: scheme === UI_SCHEME ? `${UI_SCHEME}${rest}` : rest,
  };
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/*/;
/** An expression of a template, which stays, or a run of characters that an identifier does not have. */
const EXPRESSION_OR_RUN = /(\{[^{}]*\})|[^A-Za-z0-9.{-]+|\{/g;

/** The identifier of a resource or template; it is reversed by lookup, for much is lost in it. */
export function underscoreId({ server, uri }: Address): string {
  const scheme = SCHEME.exec(uri);
  const rest = uri.slice(scheme?.[0].length ?? 0).replace(EXPRESSION_OR_RUN, (_run, expression) => {
    return typeof expression === 'string' ? expression : '_';
  });
  return `${server}_${(scheme?.[1] ?? '').replace(/\+/g, '_')}___${rest}`;
}

/** The identifier of one that would share its own with another of the same server. */
export function distinctId(address: Address): string {
  const digest = createHash('sha256').update(address.uri).digest('hex').slice(0, 8);
  return `${underscoreId(address)}~${digest}`;
}
