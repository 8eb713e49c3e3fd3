import { access, type FileHandle } from 'node:fs/promises';
import { EMPTY_CHAIN, parseEntry, type EntryReference } from './audit-entry.js';
import { AuditFiles } from './audit-files.js';
import { readHead, type AuditHead } from './audit-head.js';
import { linesOf, openIfExists, type AuditLine } from './audit-lines.js';

export type AuditVerdict =
  /** The notes are damage that entries of the log report, such as an incomplete line after a crash. */
  | { readonly ok: true; readonly entries: number; readonly notes: readonly string[] }
  | { readonly ok: false; readonly file: string; readonly line: number; readonly problem: string };

interface LocatedLine extends AuditLine {
  readonly file: string;
  readonly line: number;
}

/**
 * Detects entries that were edited, removed or moved, also at the end of the log. A gateway may append entries during the
 * verification.
 */
export async function verifyAudit(path: string): Promise<AuditVerdict> {
  const files = new AuditFiles(path);
  // The head is read before the lines. Read later, it could name an entry that was appended after the lines were read, and
  // that entry would count as missing.
  const head = await readHead(files.headPath);
  const notes: string[] = [];
  let end = EMPTY_CHAIN;
  let location = { file: path, line: 0 };
  for await (const { bytes, isComplete, file, line } of allLines(files)) {
    // An incomplete last line is an entry that was not acknowledged. The head shows whether acknowledged entries are
    // missing.
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
  entry: EntryReference & { prev: string },
  end: EntryReference,
  head: AuditHead,
): string | undefined {
  if (entry.seq !== end.seq + 1) return `entry ${entry.seq} is in the place of entry ${end.seq + 1}`;
  if (entry.prev !== end.hash) return `entry ${entry.seq} does not continue the previous entry`;
  const wasReplaced = typeof head !== 'string' && head.seq === entry.seq && head.hash !== entry.hash;
  return wasReplaced ? `entry ${entry.seq} was replaced` : undefined;
}

function truncationProblem(end: EntryReference, head: AuditHead): string | undefined {
  if (head === 'missing' && end.seq === 0) return undefined;
  if (typeof head === 'string') return `audit.head is ${head}, so entries may be missing at the end`;
  return head.seq > end.seq ? `the entries from ${end.seq + 1} to ${head.seq} are missing` : undefined;
}

/** The lines of the full files in the order of their numbers, then those of the current file. */
async function* allLines(files: AuditFiles): AsyncGenerator<LocatedLine> {
  let number = 1;
  for (;;) {
    const fullFilePath = files.fullFilePath(number);
    const file = await openIfExists(fullFilePath);
    if (file) {
      yield* locatedLinesOf(file, fullFilePath);
      number++;
      continue;
    }
    const current = await openIfExists(files.currentPath);
    const wasRenamedMeanwhile = await exists(fullFilePath);
    if (!wasRenamedMeanwhile) {
      if (current) yield* locatedLinesOf(current, files.currentPath);
      return;
    }
    // A gateway has just renamed the current file to `fullFilePath`. `current` may be the renamed file or its successor, so
    // both paths are opened again.
    await current?.close();
  }
}

/** The lines of one file. Closes the file at the end. */
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
