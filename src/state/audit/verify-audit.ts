import { access, type FileHandle } from 'node:fs/promises';
import { EMPTY_CHAIN, parseEntry, type ChainEnd } from './audit-entry.js';
import { AuditFiles } from './audit-files.js';
import { readHead, type AuditHead } from './audit-head.js';
import { linesOf, openIfExists, type AuditLine } from './audit-lines.js';

export type AuditVerdict =
  /** Notes are damage that entries report, such as an incomplete line after a crash. */
  | { readonly ok: true; readonly entries: number; readonly notes: readonly string[] }
  | { readonly ok: false; readonly file: string; readonly line: number; readonly problem: string };

interface LocatedLine extends AuditLine {
  readonly file: string;
  readonly line: number;
}

/**
 * Detects entries that were edited, removed, moved or cut off. Reads full files first, line by line; a gateway may append
 * meanwhile.
 */
export async function verifyAudit(path: string): Promise<AuditVerdict> {
  const files = new AuditFiles(path);
  // Read before the lines: a head of an entry that is appended meanwhile would look like a missing entry.
  const head = await readHead(files.head);
  const notes: string[] = [];
  let end = EMPTY_CHAIN;
  let location = { file: path, line: 0 };
  for await (const { bytes, isComplete, file, line } of allLines(files)) {
    // An incomplete line was never acknowledged. The head shows whether entries are missing.
    if (!isComplete && file === path) break;
    location = { file, line };
    const entry = parseEntry(bytes);
    if (!entry) return { ok: false, ...location, problem: 'the line was changed after it was written' };
    const problem = chainProblem(entry, end, head);
    if (problem) return { ok: false, ...location, problem };
    notes.push(...(entry.notes ?? []).map((note) => `entry ${entry.seq}: ${note}`));
    end = entry;
  }
  const problem = truncationProblem(end, head);
  if (problem) return { ok: false, file: location.file, line: location.line + 1, problem };
  return { ok: true, entries: end.seq, notes };
}

function chainProblem(
  entry: ChainEnd & { prev: string },
  end: ChainEnd,
  head: AuditHead,
): string | undefined {
  if (entry.seq !== end.seq + 1) return `entry ${entry.seq} is in the place of entry ${end.seq + 1}`;
  if (entry.prev !== end.hash) return `entry ${entry.seq} does not continue the previous entry`;
  const wasReplaced = typeof head !== 'string' && head.seq === entry.seq && head.hash !== entry.hash;
  return wasReplaced ? `entry ${entry.seq} was replaced` : undefined;
}

function truncationProblem(end: ChainEnd, head: AuditHead): string | undefined {
  if (head === 'missing' && end.seq === 0) return undefined;
  if (typeof head === 'string') return `audit.head is ${head}, so entries may be missing at the end`;
  return head.seq > end.seq ? `the entries from ${end.seq + 1} to ${head.seq} are missing` : undefined;
}

async function* allLines(files: AuditFiles): AsyncGenerator<LocatedLine> {
  let number = 1;
  for (let full = files.full(number); ; full = files.full(number)) {
    const file = await openIfExists(full);
    if (file) {
      yield* locatedLinesOf(file, full);
      number++;
      continue;
    }
    const current = await openIfExists(files.current);
    if (!(await exists(full))) {
      if (current) yield* locatedLinesOf(current, files.current);
      return;
    }
    // The current file was renamed to `full` meanwhile. The opened file may be either one, so both are opened again.
    await current?.close();
  }
}

/** Closes the file at the end. */
async function* locatedLinesOf(handle: FileHandle, file: string): AsyncGenerator<LocatedLine> {
  try {
    let line = 0;
    for await (const found of linesOf(handle)) yield { ...found, file, line: ++line };
  } finally {
    await handle.close();
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
