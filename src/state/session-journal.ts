import { open, rename, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { removeQuietly, syncDirectory } from './durable-write.js';
import { readChange, writeChange, type SessionChange } from './session-change.js';
import { errnoOf } from './storage-failure.js';

/** The first line: what the file is, and in which form. */
const HEAD = '{"gatehouse":"sessions","version":1}\n';
/** Lines that are made in one turn of the event loop when the file is written anew. */
const SLICE = 500;
/** The file is written anew when it is so many times what it was when it was new, and not small. */
const GROWTH = 4;
const SMALL_BYTES = 1_048_576;

export interface JournalReading {
  readonly changes: readonly SessionChange[];
  /** Why what comes after them cannot be read. A last line that was not written to its end is no damage. */
  readonly damage?: string;
}

/**
 * A file of changes, one line each, that is only ever added to, or replaced as a whole. A line that was handed to the
 * operating system survives the process, at whatever moment it is killed; only a new file also waits for the disk. For
 * one writer at a time.
 */
export class SessionJournal {
  private file: FileHandle | undefined;
  private bytes = 0;
  private newBytes = 0;
  private isDamaged = false;

  constructor(
    readonly path: string,
    private readonly smallBytes = SMALL_BYTES,
  ) {}

  /** Whether the next lines need a new file: there is none yet, the last write failed, or most of it is history. */
  get isDue(): boolean {
    return !this.file || this.bytes > Math.max(this.smallBytes, GROWTH * this.newBytes);
  }

  /** Only reads. Rejects when there is a file that cannot be opened. */
  async read(): Promise<JournalReading> {
    // Until it has been read.
    this.isDamaged = true;
    const reading = await readChanges(linesOf(this.path));
    this.isDamaged = reading.damage !== undefined;
    return reading;
  }

  /** A failure leaves the file for `replace`: where it ends is not known any more. */
  async append(lines: string): Promise<void> {
    try {
      await this.file?.writeFile(lines);
      this.bytes += Buffer.byteLength(lines);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Writes a file that begins with these and takes the place of the one there is. A failure leaves that one. */
  async replace(changes: Iterable<SessionChange>): Promise<void> {
    const next = `${this.path}.tmp`;
    let file: FileHandle | undefined;
    try {
      file = await open(next, 'w', 0o600);
      for await (const slice of inSlices(changes)) await file.writeFile(slice);
      await file.sync();
      const { size } = await file.stat();
      if (this.isDamaged) await this.setAside();
      await rename(next, this.path);
      await syncDirectory(dirname(this.path));
      await this.close();
      this.file = file;
      this.bytes = this.newBytes = size;
    } catch (error) {
      await file?.close().catch(() => undefined);
      await removeQuietly(next);
      throw error;
    }
  }

  async close(): Promise<void> {
    const { file } = this;
    this.file = undefined;
    await file?.close().catch(() => undefined);
  }

  /** What is damaged is kept for whoever wants to know what happened. */
  private async setAside(): Promise<void> {
    await rename(this.path, `${this.path}.damaged`).catch(() => undefined);
    this.isDamaged = false;
  }
}

async function readChanges(lines: AsyncIterable<string>): Promise<JournalReading> {
  const changes: SessionChange[] = [];
  let count = 0;
  let unread: number | undefined;
  for await (const line of lines) {
    count++;
    if (unread !== undefined) return { changes, damage: `line ${unread} cannot be read` };
    if (count === 1 && line === HEAD) continue;
    const change = count === 1 ? undefined : readChange(line);
    if (change) changes.push(change);
    else unread = count;
  }
  return { changes };
}

/** With what ends them; the last may have no end. None when there is no file. */
async function* linesOf(path: string): AsyncIterable<string> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return;
  let rest = '';
  // Not by readline, to which a line also ends with what JSON allows in a text.
  for await (const chunk of file.createReadStream({ encoding: 'utf8' })) {
    const lines = (rest + String(chunk)).split(/(?<=\n)/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** The text of a file, made without holding up the event loop. */
async function* inSlices(changes: Iterable<SessionChange>): AsyncIterable<string> {
  let slice = HEAD;
  let lines = 0;
  for (const change of changes) {
    slice += writeChange(change);
    if (++lines % SLICE !== 0) continue;
    yield slice;
    slice = '';
    await nextTurn();
  }
  yield slice;
}
