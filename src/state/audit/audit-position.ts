import { StateError } from '../state-error.js';
import { EMPTY_CHAIN, parseEntry, type EntryReference } from './audit-entry.js';
import type { AuditFiles } from './audit-files.js';
import { readHead, type AuditHead } from './audit-head.js';
import { openIfExists, tailOf, type AuditTail } from './audit-lines.js';

/** The end of a log, where the next entry is written. */
export interface AuditPosition {
  readonly end: EntryReference;
  /** Size of the complete entries in the current file, in bytes. */
  readonly size: number;
  /** The incomplete line that a crash left after these entries; empty if there is none. */
  readonly torn: Buffer;
  /** The number of the latest full file; 0 if there is none. */
  readonly lastFullNumber: number;
  /** Damage of the log that the next entry has to report. */
  readonly notes: readonly string[];
}

const EMPTY_TAIL: AuditTail = { lastLine: undefined, size: 0, torn: Buffer.alloc(0) };

/** Finds the end of the log. Reads only the ends of the files. */
export async function findPosition(files: AuditFiles): Promise<AuditPosition> {
  const head = await readHead(files.headPath);
  const lastFullNumber = await files.lastFullNumber();
  const current = await tailAt(files.currentPath);
  // If the current file has no entry yet, the last line is in the latest full file.
  const lastLine = current.lastLine ?? (await tailAt(files.fullFilePath(lastFullNumber))).lastLine;
  const lastEntry = lastLine ? parseEntry(lastLine) : EMPTY_CHAIN;
  if (!lastEntry && typeof head === 'string') throw unusableError(files, head);
  const { size, torn } = current;
  return { size, torn, lastFullNumber, ...continuation(lastEntry, head) };
}

/**
 * The next entry follows the entry in the last line or the entry that the head names: the one with the higher number. If the
 * head has the higher number, entries after the last line are missing, and their numbers are not used again.
 */
function continuation(
  lastEntry: EntryReference | undefined,
  head: AuditHead,
): Pick<AuditPosition, 'end' | 'notes'> {
  if (typeof head === 'string') {
    const end = lastEntry ?? EMPTY_CHAIN;
    const isNew = end.seq === 0 && head === 'missing';
    return { end, notes: isNew ? [] : [`audit.head was ${head}: entries after ${end.seq} may be missing`] };
  }
  if (!lastEntry) return { end: head, notes: ['the line before this entry cannot be read'] };
  if (lastEntry.seq > head.seq || lastEntry.hash === head.hash) return { end: lastEntry, notes: [] };
  const problem =
    lastEntry.seq === head.seq
      ? `entry ${head.seq} was replaced`
      : `the entries from ${lastEntry.seq + 1} to ${head.seq} are missing`;
  return { end: head, notes: [`before this entry, ${problem}`] };
}

async function tailAt(path: string): Promise<AuditTail> {
  const file = await openIfExists(path);
  try {
    return file ? await tailOf(file) : EMPTY_TAIL;
  } finally {
    await file?.close();
  }
}

const unusableError = (files: AuditFiles, head: string): StateError =>
  new StateError(
    files.currentPath,
    `its last line is damaged and ${files.headPath} is ${head}, so the chain cannot be continued`,
    'Move both files away to start a new audit log, and keep them as evidence.',
  );
