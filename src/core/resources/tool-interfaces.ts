import type { Definition } from '../naming/name-table.js';

/** By URI, the tools that name it as their user interface. */
type Interfaces = ReadonlyMap<string, readonly string[]>;

/** Lists never change, so that each is read once. */
const known = new WeakMap<readonly Definition[], Interfaces>();

/** The user interfaces that tools name in their definitions; servers need not list them anywhere else. */
export function interfacesOf(tools: readonly Definition[]): Interfaces {
  const before = known.get(tools);
  if (before) return before;
  const interfaces = new Map<string, string[]>();
  for (const { name, text } of tools)
    for (const uri of namedIn(text)) interfaces.set(uri, [...(interfaces.get(uri) ?? []), name]);
  known.set(tools, interfaces);
  return interfaces;
}

/** Few tools have one: the others are not looked at any closer. */
function namedIn(text: string): string[] {
  if (!text.includes('esourceUri')) return [];
  const { _meta: meta } = JSON.parse(text) as { _meta?: Meta };
  return [meta?.ui?.resourceUri, meta?.['ui/resourceUri']].filter((uri) => typeof uri === 'string');
}

/** Whatever a server made of it. */
interface Meta {
  readonly ui?: { readonly resourceUri?: unknown } | null;
  readonly 'ui/resourceUri'?: unknown;
}
