import { open, rename, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { removeQuietly, syncDirectory } from './durable-write.js';
import { parseChange, serializeChange, type SessionChange } from './session-change.js';
import { errnoOf } from './storage-failure.js';

/** First line of the file: file type and format version. */
const HEADER = '{"gatehouse":"sessions","version":1}\n';
/** Lines serialised before yielding to the event loop during a compaction. */
const LINES_PER_SLICE = 500;
/** The journal is compacted when it exceeds the minimum size and has grown by this factor since the last compaction. */
const COMPACTION_FACTOR = 4;
const MIN_COMPACTION_BYTES = 1_048_576;

interface JournalReading {
  readonly changes: readonly SessionChange[];
  /** Why the rest of the file cannot be read. An incomplete last line is not damage. */
  readonly damage?: string;
}

/**
 * Append-only file of changes, one per line. A compaction replaces the whole file. A written line survives the end of the
 * process, but not a power failure: only a compaction syncs the file to disk. Supports one writer at a time.
 */
export class SessionJournal {
  private file: FileHandle | undefined;
  private sizeBytes = 0;
  /** Size of the file after the last compaction. */
  private compactedBytes = 0;
  private isDamaged = false;

  constructor(
    readonly path: string,
    private readonly minCompactionBytes = MIN_COMPACTION_BYTES,
  ) {}

  /** True before the first `replace`, after a failed write, and when the file has become large: see `COMPACTION_FACTOR`. */
  get needsCompaction(): boolean {
    if (!this.file) return true;
    return this.sizeBytes > Math.max(this.minCompactionBytes, COMPACTION_FACTOR * this.compactedBytes);
  }

  /** Reads without changing the file. Rejects when the file exists and cannot be read. */
  async read(): Promise<JournalReading> {
    // If reading fails, the file counts as damaged, so that `replace` keeps a copy of it.
    this.isDamaged = true;
    const reading = await readChanges(linesOf(this.path));
    this.isDamaged = reading.damage !== undefined;
    return reading;
  }

  /** Appends complete lines. After a failure the file has to be replaced, because its last line may be incomplete. */
  async append(lines: string): Promise<void> {
    try {
      await this.file?.writeFile(lines);
      this.sizeBytes += Buffer.byteLength(lines);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Replaces the file by one with these changes. A failure keeps the existing file. */
  async replace(changes: Iterable<SessionChange>): Promise<void> {
    const temporaryPath = `${this.path}.tmp`;
    let file: FileHandle | undefined;
    try {
      file = await open(temporaryPath, 'w', 0o600);
      for await (const slice of inSlices(changes)) await file.writeFile(slice);
      await file.sync();
      const { size } = await file.stat();
      if (this.isDamaged) await this.setAside();
      await rename(temporaryPath, this.path);
      await syncDirectory(dirname(this.path));
      await this.close();
      this.file = file;
      this.sizeBytes = size;
      this.compactedBytes = size;
    } catch (error) {
      await file?.close().catch(() => undefined);
      await removeQuietly(temporaryPath);
      throw error;
    }
  }

  async close(): Promise<void> {
    const { file } = this;
    this.file = undefined;
    await file?.close().catch(() => undefined);
  }

  /** Keeps a damaged file for diagnosis. */
  private async setAside(): Promise<void> {
    await rename(this.path, `${this.path}.damaged`).catch(() => undefined);
    this.isDamaged = false;
  }
}

async function readChanges(lines: AsyncIterable<string>): Promise<JournalReading> {
  const changes: SessionChange[] = [];
  let lineNumber = 0;
  let unreadableLine: number | undefined;
  for await (const line of lines) {
    // An unreadable line is damage only if another line follows: the last line may be incomplete after a crash.
    if (unreadableLine !== undefined) return { changes, damage: `line ${unreadableLine} cannot be read` };
    lineNumber++;
    const isFirst = lineNumber === 1;
    if (isFirst && line === HEADER) continue;
    const change = isFirst ? undefined : parseChange(line);
    if (change) changes.push(change);
    else unreadableLine = lineNumber;
  }
  return { changes };
}

/** The lines of a file with their line breaks; the last line may have none. Yields nothing if the file does not exist. */
async function* linesOf(path: string): AsyncIterable<string> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return;
  let incompleteLine = '';
  // `readline` cannot be used: it also splits at U+2028 and U+2029, which JSON strings may contain.
  for await (const chunk of file.createReadStream({ encoding: 'utf8' })) {
    const lines = (incompleteLine + String(chunk)).split(/(?<=\n)/);
    incompleteLine = lines.pop() ?? '';
    yield* lines;
  }
  if (incompleteLine !== '') yield incompleteLine;
}

/** The text of a compacted file, serialised in slices. */
async function* inSlices(changes: Iterable<SessionChange>): AsyncIterable<string> {
  let slice = HEADER;
  let lines = 0;
  for (const change of changes) {
    slice += serializeChange(change);
    if (++lines % LINES_PER_SLICE !== 0) continue;
    yield slice;
    slice = '';
    await yieldToEventLoop();
  }
  yield slice;
}
