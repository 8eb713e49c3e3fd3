/**
 * What a terminal would obey, hide or turn around instead of showing it: control characters, everything Unicode calls
 * format (zero width, direction, tags), separators of lines, private use, halves of pairs, and whatever is unassigned.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/gu;
/** More marks than any language puts on a letter: they would be drawn over the lines above and below. */
const PILES = /(\p{M}{4})\p{M}+/gu;
const PLAIN = /^[\x20-\x7e]*$/;

const SHORT_FORMS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * The one way from what a server or a client calls itself to the screen. Names come from machines that nobody here
 * controls; what is in them is shown as an escape and never executed. The result is one line.
 */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNSEEN, escape).replace(PILES, '$1');
}

/** The same for text of many lines, such as a description or the contents of a resource. Tabs are widened. */
export const printableLines = (text: string): string[] =>
  text.split(/\r?\n/).map((line) => printable(line.replaceAll('\t', '    ')));

/** JSON that may be written to a terminal: it still means the same. */
export const printableJson = (value: unknown, indent = 2): string =>
  JSON.stringify(value, null, indent).replace(UNSEEN, (found) => (found === '\n' ? found : asUnits(found)));

function escape(found: string): string {
  const code = found.codePointAt(0)!;
  if (code < 0x100) return SHORT_FORMS[found] ?? `\\x${hex(code, 2)}`;
  return code > 0xffff ? `\\u{${hex(code, 4)}}` : `\\u${hex(code, 4)}`;
}

const asUnits = (found: string): string =>
  Array.from({ length: found.length }, (_, at) => `\\u${hex(found.charCodeAt(at), 4)}`).join('');

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');
