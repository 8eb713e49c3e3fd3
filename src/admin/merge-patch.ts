import { isJsonObject, type JsonObject } from '../lib/json-text/json-value.js';

/** JSON Merge Patch (RFC 7396). Neither argument is changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged) satisfies JsonObject;
}
