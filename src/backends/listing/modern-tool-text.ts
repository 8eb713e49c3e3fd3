import { memberText, withMember, withoutMembers } from '../../lib/json-text/json-text.js';

/** A member that tools have only in the 2025 era. */
const EXECUTION: ReadonlySet<string> = new Set(['execution']);
const DIALECT: ReadonlySet<string> = new Set(['$schema']);

/**
 * The definition of a tool as clients of the 2026 era expect it. `text` is that for clients of the 2025 era, whose output
 * schema may be wrapped (`objectOutputSchema`), and `ownText` is what the server wrote.
 */
export function modernToolText(text: string, ownText: string, wrapsOutput: boolean): string {
  const ownSchema = wrapsOutput ? memberText(ownText, 'outputSchema') : undefined;
  const unwrapped = ownSchema === undefined ? text : withMember(text, 'outputSchema', ownSchema);
  const valid = unwrapped.includes('$schema') ? withValidDialects(unwrapped) : unwrapped;
  // The key may be written with escapes.
  const mayHaveExecution = valid.includes('"execution"') || valid.includes('\\u');
  return mayHaveExecution && memberText(valid, 'execution') !== undefined
    ? withoutMembers(valid, EXECUTION)
    : valid;
}

/** SDK clients of the 2026 era refuse a whole list because of one `$schema` that is no string. */
const withValidDialects = (definition: string): string =>
  ['inputSchema', 'outputSchema'].reduce((text, key) => {
    const schema = memberText(text, key);
    if (!schema?.startsWith('{')) return text;
    const dialect = memberText(schema, '$schema');
    return dialect === undefined || dialect.startsWith('"')
      ? text
      : withMember(text, key, withoutMembers(schema, DIALECT));
  }, definition);
