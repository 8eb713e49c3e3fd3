import { access, type FileHandle } from 'node:fs/promises';
import { EMPTY_CHAIN, readEntry, type ChainEnd } from './audit-entry.js';
import { AuditFiles } from './audit-files.js';
import { readHead, type AuditHead } from './audit-head.js';
import { linesOf, openIfExists, type AuditLine } from './audit-lines.js';

export type AuditVerdict =
  /** Notes are damage that entries report, such as an incomplete line after a crash. */
  | { readonly ok: true; readonly entries: number; readonly notes: readonly string[] }
  | { readonly ok: false; readonly file: string; readonly line: number; readonly problem: string };

interface PlacedLine extends AuditLine {
  readonly file: string;
  readonly line: number;
}

/**
 * Detects entries that were edited, removed, moved or cut off. Reads full files first, line by line; a gateway may append
 * meanwhile.
 */
export async function verifyAudit(path: string): Promise<AuditVerdict> {
  const files = new AuditFiles(path);
  // Read before the lines, so that entries appended meanwhile are not taken for missing ones.
  const head = await readHead(files.head);
  const notes: string[] = [];
  let end = EMPTY_CHAIN;
  let place = { file: path, line: 0 };
  for await (const { bytes, isEnded, file, line } of allLines(files)) {
    // An incomplete line was never acknowledged. The head shows whether entries are missing.
    if (!isEnded && file === path) break;
    place = { file, line };
    const entry = readEntry(bytes);
    if (!entry) return { ok: false, ...place, problem: 'the line was changed after it was written' };
    const problem = chainProblem(entry, end, head);
    if (problem) return { ok: false, ...place, problem };
    notes.push(...(entry.notes ?? []).map((note) => `entry ${entry.seq}: ${note}`));
    end = entry;
  }
  const problem = truncationProblem(end, head);
  if (problem) return { ok: false, file: place.file, line: place.line + 1, problem };
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
    if (!(await exists(full))) {
      if (current) yield* placed(current, files.current);
      return;
    }
    // The file was renamed meanwhile, and either of both may have been opened.
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

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
