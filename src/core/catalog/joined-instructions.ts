interface ServerInstructions {
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
/** A text is not cut to fewer bytes than this. Texts of the last servers are left out instead. */
const MIN_CUT_BYTES = 64;
/** Bytes of a section with the longest heading, its separators and `MIN_CUT_BYTES` of text. */
const MIN_SECTION_BYTES = 136;

/**
 * Joins the instructions of all servers under headings with the server ids, in at most `maxBytes`. If the texts are too
 * long together, each text above an equal share is cut to that share, so that a long text does not displace short ones.
 */
export function joinInstructions(all: readonly ServerInstructions[], maxBytes: number): JoinedInstructions {
  let included = all;
  let share = equalShare(included, maxBytes);
  if (share < MIN_CUT_BYTES) {
    included = all.slice(0, Math.floor(maxBytes / MIN_SECTION_BYTES));
    share = equalShare(included, maxBytes);
  }
  const sections = included.map(({ server, text }) => heading(server) + cut(text, share));
  const isCut = included !== all || share !== Infinity;
  return { text: sections.join(SEPARATOR), isCut };
}

const heading = (server: string): string => `# ${server}${SEPARATOR}`;

/**
 * The maximum number of bytes of each text; infinite when all texts fit. A text that is shorter than an equal share leaves its
 * unused bytes to the longer texts.
 */
function equalShare(all: readonly ServerInstructions[], maxBytes: number): number {
  let remainingBytes = maxBytes - (all.length - 1) * SEPARATOR.length;
  for (const { server } of all) remainingBytes -= heading(server).length;
  // A text with more characters than `maxBytes` is cut in any case: its bytes need not be counted.
  const lengths = all.map(({ text }) => (text.length > maxBytes ? text.length : Buffer.byteLength(text)));
  for (const [index, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(remainingBytes / (lengths.length - index));
    if (length > share) return share;
    remainingBytes -= length;
  }
  return Infinity;
}

/** The text if it has at most `maxBytes`. Otherwise its beginning and `CUT_MARK`, together at most `maxBytes`. */
function cut(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = maxBytes - Buffer.byteLength(CUT_MARK);
  // Moves the end to the start of a character: in UTF-8, all other bytes of a character start with the bits 10.
  while (end > 0 && (bytes[end]! & 0b1100_0000) === 0b1000_0000) end--;
  return bytes.toString('utf8', 0, end) + CUT_MARK;
}
