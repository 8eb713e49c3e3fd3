import { access, type FileHandle } from 'node:fs/promises';
import { NO_ENTRIES, readEntry, type ChainEnd } from './audit-entry.js';
import { AuditFiles } from './audit-files.js';
import { readHead, type AuditHead } from './audit-head.js';
import { linesOf, openIfExists, type AuditLine } from './audit-lines.js';

export type AuditVerdict =
  /** The notes are what the log says about itself, such as that a crash tore a line. */
  | { readonly ok: true; readonly entries: number; readonly notes: readonly string[] }
  | { readonly ok: false; readonly file: string; readonly line: number; readonly problem: string };

interface PlacedLine extends AuditLine {
  readonly file: string;
  readonly line: number;
}

/**
 * Whether a log is the one that was written: nothing edited, left out, moved or cut off. Reads full files first, line
 * by line; a gateway may go on writing meanwhile.
 */
export async function verifyAudit(path: string): Promise<AuditVerdict> {
  const files = new AuditFiles(path);
  // Before the lines: what is added while they are read is then no surprise.
  const head = await readHead(files.head);
  const notes: string[] = [];
  let end = NO_ENTRIES;
  let place = { file: path, line: 0 };
  for await (const { bytes, isEnded, file, line } of allLines(files)) {
    // Never acknowledged: a crash tore it, or it is being written. The head tells if there should be more.
    if (!isEnded && file === path) break;
    place = { file, line };
    const entry = readEntry(bytes);
    if (!entry) return { ok: false, ...place, problem: 'the line is not as it was written' };
    const problem = whatIsWrong(entry, end, head);
    if (problem) return { ok: false, ...place, problem };
    notes.push(...(entry.notes ?? []).map((note) => `entry ${entry.seq}: ${note}`));
    end = entry;
  }
  const problem = whatIsMissing(end, head);
  if (problem) return { ok: false, file: place.file, line: place.line + 1, problem };
  return { ok: true, entries: end.seq, notes };
}

function whatIsWrong(entry: ChainEnd & { prev: string }, end: ChainEnd, head: AuditHead): string | undefined {
  if (entry.seq !== end.seq + 1) return `entry ${entry.seq} stands where entry ${end.seq + 1} belongs`;
  if (entry.prev !== end.hash) return `entry ${entry.seq} does not follow from the one before it`;
  const wasReplaced = typeof head !== 'string' && head.seq === entry.seq && head.hash !== entry.hash;
  return wasReplaced ? `entry ${entry.seq} is another one than was written` : undefined;
}

function whatIsMissing(end: ChainEnd, head: AuditHead): string | undefined {
  if (head === 'missing' && end.seq === 0) return undefined;
  if (typeof head === 'string') return `audit.head is ${head}, so nobody can tell whether this is the end`;
  return head.seq > end.seq ? `the entries from ${end.seq + 1} to ${head.seq} are missing` : undefined;
}

async function* allLines(files: AuditFiles): AsyncGenerator<PlacedLine> {
  let number = 1;
  for (let full = files.full(number); ; full = files.full(number)) {
    const file = await openIfExists(full);
    if (file) {
      yield* placed(file, full);
      number++;
      continue;
    }
    const current = await openIfExists(files.current);
    if (!(await isThere(full))) {
      if (current) yield* placed(current, files.current);
      return;
    }
    // It became full just now, and it may be either file that was opened.
    await current?.close();
  }
}

/** Closes the file. */
async function* placed(handle: FileHandle, file: string): AsyncGenerator<PlacedLine> {
  try {
    let line = 0;
    for await (const found of linesOf(handle)) yield { ...found, file, line: ++line };
  } finally {
    await handle.close();
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
