import stringWidth from 'string-width';

const ELLIPSIS = '…';
const ASCII = /^[\x20-\x7e]*$/;
const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Columns that printable text takes on a terminal. */
export const textWidth = (text: string): number => (ASCII.test(text) ? text.length : stringWidth(text));

/** At most this wide; what is left out is marked. */
export function truncateEnd(text: string, width: number): string {
  if (width <= 0) return '';
  if (textWidth(text) <= width) return text;
  return `${head(text, width - 1)}${ELLIPSIS}`;
}

/** The same, but both ends stay: those of a URI tell more than its middle. */
export function truncateMiddle(text: string, width: number): string {
  if (width <= 0) return '';
  if (textWidth(text) <= width) return text;
  const room = width - 1;
  const end = tail(text, Math.floor(room / 2));
  return `${head(text, room - textWidth(end))}${ELLIPSIS}${end}`;
}

/** Exactly this wide. */
export const fit = (text: string, width: number): string => padTextEnd(truncateEnd(text, width), width);

export const padTextEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - textWidth(text)));

export const padTextStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - textWidth(text))) + text;

/** As many lines as it takes: between words where there are some, through a word that is wider than a line. */
export function wrapText(text: string, width: number): string[] {
  if (width <= 0) return [];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )/)) {
    if (textWidth(line) + textWidth(word.trimEnd()) <= width) {
      line += word;
      continue;
    }
    // What is indented stays so; a line of nothing but that says nothing.
    if (line.trim() !== '') lines.push(line.trimEnd());
    line = line.trim() === '' ? line + word : word;
    while (textWidth(line) > width) {
      const part = head(line, width);
      // A character that is wider than the line would never fit.
      if (part === '') return [...lines, ELLIPSIS];
      if (line.slice(part.length).trim() === '') break;
      lines.push(part);
      line = line.slice(part.length);
    }
  }
  return [...lines, line.trimEnd()];
}

function head(text: string, width: number): string {
  if (ASCII.test(text)) return text.slice(0, Math.max(0, width));
  let taken = 0;
  let end = 0;
  for (const { segment, index } of segments.segment(text)) {
    taken += textWidth(segment);
    if (taken > width) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

function tail(text: string, width: number): string {
  if (width <= 0) return '';
  if (ASCII.test(text)) return text.slice(-width);
  const all = [...segments.segment(text)];
  let taken = 0;
  let start = text.length;
  for (const { segment, index } of all.toReversed()) {
    taken += textWidth(segment);
    if (taken > width) break;
    start = index;
  }
  return text.slice(start);
}
