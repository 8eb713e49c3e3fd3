import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

const ASCII = /^[\x20-\x7e]*$/;

/** Number of columns of printable text on a terminal. */
export const textWidth = (text: string): number => (ASCII.test(text) ? text.length : stringWidth(text));

/** Shortens the text at its end to at most `width` columns and marks the cut with an ellipsis. */
export const truncateEnd = (text: string, width: number): string => truncate(text, width, 'end');

/** Shortens the text in the middle. Used for URIs, because their end says more than their middle. */
export const truncateMiddle = (text: string, width: number): string => truncate(text, width, 'middle');

function truncate(text: string, width: number, position: 'end' | 'middle'): string {
  if (textWidth(text) <= width) return text;
  // If only the first column of a two-column character fits, cli-truncate keeps the character, and the result is too wide.
  for (let columns = width; columns > 0; columns--) {
    const short = cliTruncate(text, columns, { position });
    if (textWidth(short) <= width) return short;
  }
  return '';
}

export const padTextEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - textWidth(text)));

export const padTextStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - textWidth(text))) + text;

/**
 * Breaks a line between words. Breaks inside a word only if it is wider than a line. All lines have the indentation of the
 * text.
 */
export function wrapText(text: string, width: number): string[] {
  if (width <= 0) return [];
  const content = text.trimStart();
  const indent = Math.min(text.length - content.length, Math.floor(width / 2));
  return wrapAnsi(content, width - indent, { hard: true })
    .split('\n')
    .map((line) => truncateEnd(' '.repeat(indent) + line, width).trimEnd());
}
