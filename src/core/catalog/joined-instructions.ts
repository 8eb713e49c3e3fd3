/** The instructions of one server. */
interface Part {
  readonly server: string;
  readonly text: string;
}

interface JoinedInstructions {
  readonly text: string;
  /** Whether a text was cut or left out. */
  readonly isCut: boolean;
}

const SEPARATOR = '\n\n';
const CUT_MARK = '…';
/** If an equal share is shorter than this, the last servers are left out: a shorter beginning of a text is of no use. */
const MIN_CUT_BYTES = 64;
/** Upper bound for the longest heading, its separators and `MIN_CUT_BYTES` of text. */
const MIN_SECTION_BYTES = 136;

/**
 * The texts of all servers under headings with their ids, in at most `maxBytes`. If they are longer, texts above an equal
 * share are cut, so that a long text does not displace short ones.
 */
export function joinInstructions(parts: readonly Part[], maxBytes: number): JoinedInstructions {
  let kept = parts;
  let share = equalShare(kept, maxBytes);
  if (share < MIN_CUT_BYTES) {
    kept = parts.slice(0, Math.floor(maxBytes / MIN_SECTION_BYTES));
    share = equalShare(kept, maxBytes);
  }
  const sections = kept.map(({ server, text }) => heading(server) + cut(text, share));
  const isCut = kept !== parts || share !== Infinity;
  return { text: sections.join(SEPARATOR), isCut };
}

const heading = (server: string): string => `# ${server}${SEPARATOR}`;

/** The number of bytes that each text may have; infinite when all of them fit. */
function equalShare(parts: readonly Part[], maxBytes: number): number {
  let left = maxBytes - (parts.length - 1) * SEPARATOR.length;
  for (const { server } of parts) left -= heading(server).length;
  // A text with more characters than `maxBytes` is cut in any case: its bytes need not be counted.
  const lengths = parts.map(({ text }) => (text.length > maxBytes ? text.length : Buffer.byteLength(text)));
  for (const [index, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (lengths.length - index));
    if (length > share) return share;
    left -= length;
  }
  return Infinity;
}

/** The text, or its beginning and a mark, in at most this many bytes. */
function cut(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = maxBytes - Buffer.byteLength(CUT_MARK);
  // Does not cut within a character: the second and later bytes of a character start with the bits 10.
  while (end > 0 && (bytes[end]! & 0b1100_0000) === 0b1000_0000) end--;
  return bytes.toString('utf8', 0, end) + CUT_MARK;
}
