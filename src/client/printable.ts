/**
 * Characters that a terminal interprets, hides or reorders: control and format characters (zero width, direction, tags),
 * line separators, private use, lone surrogates and unassigned code points.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/gu;
/**
 * A run of combining marks longer than any language uses. A terminal would draw the marks over the lines above and below.
 */
const EXCESS_MARKS = /(\p{M}{4})\p{M}+/gu;
const ASCII = /^[\x20-\x7e]*$/;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Makes untrusted text safe for a terminal: unprintable characters become escapes such as `\x1b`. The result is one
 * line. Every text from a server or client must be passed through this function before it is written to a
 * terminal.
 */
export function printable(text: string): string {
  if (ASCII.test(text)) return text;
  return text.replace(UNPRINTABLE, escape).replace(EXCESS_MARKS, '$1');
}

/** Like `printable`, for text of several lines. Tabs become four spaces. */
export const printableLines = (text: string): string[] =>
  text.split(/\r?\n/).map((line) => printable(line.replaceAll('\t', '    ')));

/** JSON that is safe for a terminal and parses to the same value. */
export const printableJson = (value: unknown, indent = 2): string =>
  JSON.stringify(value, null, indent).replace(UNPRINTABLE, (character) =>
    character === '\n' ? character : escapeCodeUnits(character),
  );

function escape(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x100) return SHORT_ESCAPES[character] ?? `\\x${hex(code, 2)}`;
  return code > 0xffff ? `\\u{${hex(code, 4)}}` : `\\u${hex(code, 4)}`;
}

/** Escapes as JSON requires: a character beyond U+FFFF becomes two escapes. */
const escapeCodeUnits = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at), 4)}`).join('');

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');
