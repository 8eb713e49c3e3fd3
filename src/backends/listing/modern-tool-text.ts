import { memberText, withMember, withoutMembers } from '../../lib/json-text/json-text.js';

/** A member of tools that only the 2025 era has. */
const EXECUTION: ReadonlySet<string> = new Set(['execution']);
const DIALECT: ReadonlySet<string> = new Set(['$schema']);

/**
 * The definition of a tool for clients of the 2026 era. `text` is the definition for clients of the 2025 era, and `ownText` is
 * the definition as the server wrote it. `wrapsOutput`: the output schema in `text` is wrapped (`objectOutputSchema`).
 */
export function modernToolText(text: string, ownText: string, wrapsOutput: boolean): string {
  const ownSchema = wrapsOutput ? memberText(ownText, 'outputSchema') : undefined;
  const unwrapped = ownSchema === undefined ? text : withMember(text, 'outputSchema', ownSchema);
  const definition = unwrapped.includes('$schema') ? withValidDialects(unwrapped) : unwrapped;
  // The key may be written with escapes.
  const mayHaveExecution = definition.includes('"execution"') || definition.includes('\\u');
  return mayHaveExecution && memberText(definition, 'execution') !== undefined
    ? withoutMembers(definition, EXECUTION)
    : definition;
}

/** Removes each `$schema` that is not a string: SDK clients of the 2026 era refuse a whole list because of it. */
function withValidDialects(definition: string): string {
  let text = definition;
  for (const key of ['inputSchema', 'outputSchema']) {
    const schema = memberText(text, key);
    const dialect = schema?.startsWith('{') ? memberText(schema, '$schema') : undefined;
    if (schema === undefined || dialect === undefined || dialect.startsWith('"')) continue;
    text = withMember(text, key, withoutMembers(schema, DIALECT));
  }
  return text;
}
