import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sessionRecordsContract } from '../../test/contract/session-records.contract.js';
import {
  MemorySessionRecords,
  openRecords,
  storedSession,
  storedSubscription,
} from '../../test/kit/session-records.js';
import { unprivileged } from '../../test/kit/state-unprivileged.js';
import { tempDir } from '../../test/kit/temp-dir.js';
import { SessionJournal } from './session-journal.js';
import { SessionRecordSet } from './session-record-set.js';
import type { SessionRecords } from './session-records.js';

sessionRecordsContract('FileSessionRecords', () => {
  const directory = tempDir();
  return () => openRecords(directory);
});

// Other specs use MemorySessionRecords in place of FileSessionRecords.
sessionRecordsContract('MemorySessionRecords', () => {
  const recordSet = new SessionRecordSet();
  return () => {
    const records = new MemorySessionRecords(recordSet);
    return Promise.resolve({ records, close: () => records.close() });
  };
});

const idsOf = async (records: SessionRecords): Promise<string[]> =>
  (await records.load()).map(({ session }) => session.id);

describe('FileSessionRecords', () => {
  let directory = '';
  let path = '';
  const text = (): string => readFileSync(path, 'utf8');
  /** Makes the next write of a new file fail with ENOSPC. */
  const fillDisk = (): void => symlinkSync('/dev/full', `${path}.tmp`);

  beforeEach(() => {
    directory = tempDir();
    path = join(directory, 'sessions.jsonl');
  });

  it('write no file without a session', async () => {
    const { records, close } = await openRecords(directory);
    records.remove('unknown');
    await records.flush();
    await close();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('write every change to a file of mode 0600 before flush resolves', async () => {
    const { records } = await openRecords(directory);
    records.put(storedSession('a'), 1);
    await records.flush();
    records.addSubscription('a', storedSubscription('1'));
    await records.flush();
    expect(text().trimEnd().split('\n')).toHaveLength(3);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    // Reads the file as the next process would after a kill.
    const { changes } = await new SessionJournal(path).read();
    expect(changes.map((change) => change.do)).toEqual(['keep', 'subscribe']);
  });

  it('write changes that are made during a write after it, in order', async () => {
    const { records, close } = await openRecords(directory);
    for (let n = 0; n < 200; n++) {
      records.put(storedSession(`s${n}`), n);
      if (n % 2 === 0) records.remove(`s${n}`);
      if (n % 7 === 0) await records.flush();
    }
    await close();
    const next = await openRecords(directory);
    expect(await idsOf(next.records)).toEqual(Array.from({ length: 100 }, (_, n) => `s${2 * n + 1}`));
  });

  it('compact the file when most of it is obsolete, without losing changes made meanwhile', async () => {
    const { records, close } = await openRecords(directory, { journal: new SessionJournal(path, 2000) });
    records.put(storedSession('stays'), 0);
    let maxSize = 0;
    for (let n = 0; n < 300; n++) {
      records.put(storedSession('comes'), n);
      records.touch('stays', n);
      records.remove('comes');
      if (n % 3 === 0) await records.flush();
      maxSize = Math.max(maxSize, n === 0 ? 0 : statSync(path).size);
    }
    await close();
    expect(maxSize).toBeLessThan(6000);
    const next = await openRecords(directory);
    expect(await next.records.load()).toEqual([
      { session: storedSession('stays'), seen: 299, subscriptions: [] },
    ]);
  });

  it('restore the records before an unreadable line and keep the damaged file', async () => {
    const first = await openRecords(directory);
    first.records.put(storedSession('a'), 1);
    first.records.put(storedSession('b'), 1);
    await first.close();
    const damaged = text().replace('"b"', '"b');
    writeFileSync(path, `${damaged}{"do":"forget","session":"a"}\n`);
    const { records, logged, close } = await openRecords(directory);
    expect(await idsOf(records)).toEqual(['a']);
    expect(logged).toEqual(['some session records are damaged: their clients have to initialize again']);
    expect(records.failures).toBe(1);
    records.put(storedSession('c'), 2);
    await close();
    expect(readFileSync(`${path}.damaged`, 'utf8')).toContain(damaged);
    const next = await openRecords(directory);
    expect(await idsOf(next.records)).toEqual(['a', 'c']);
    expect(next.logged).toEqual([]);
  });

  it.each(['not a journal\nat all\n', '{"gatehouse":"sessions","version":2}\n{"do":"?"}\n', '\0\0\0\n\0\n'])(
    'restore nothing from a file with the content %j',
    async (content) => {
      writeFileSync(path, content);
      const { records, logged } = await openRecords(directory);
      expect(await records.load()).toEqual([]);
      expect(logged).toHaveLength(1);
    },
  );

  it.each([
    '{"do":"keep","session":{"id":"a"},"seen":1}',
    '{"do":"subscribe","session":"a","subscription":{"id":"1","server":"s","uri":7,"since":1}}',
    '{"do":"constructor"}',
    '[]',
    'null',
  ])('ignore the line %s', async (line) => {
    writeFileSync(path, `{"gatehouse":"sessions","version":1}\n${line}\n{"do":"forget","session":"a"}\n`);
    const { records, logged } = await openRecords(directory);
    expect(await records.load()).toEqual([]);
    expect(logged).toHaveLength(1);
  });

  it('restore nothing from a file that cannot be read, and write the next records', async () => {
    mkdirSync(path);
    const { records, logged, close } = await openRecords(directory);
    expect(await records.load()).toEqual([]);
    expect(records.failures).toBe(1);
    records.put(storedSession('a'), 1);
    await close();
    expect(logged).toEqual(['session records cannot be read: earlier sessions are not restored']);
    const next = await openRecords(directory);
    expect(await idsOf(next.records)).toEqual(['a']);
  });

  it('log a full disk once and write all records when there is space again', async () => {
    const { records, logged, close } = await openRecords(directory, { retryDelayMs: 0 });
    fillDisk();
    records.put(storedSession('a'), 1);
    await records.flush();
    fillDisk();
    records.put(storedSession('b'), 1);
    await records.flush();
    expect(records.failures).toBe(2);
    expect(logged).toEqual(['session records cannot be written: sessions would not survive a restart']);
    expect(readdirSync(directory).filter((name) => name.startsWith('sessions'))).toEqual([]);
    records.put(storedSession('c'), 1);
    await close();
    expect(logged).toEqual([
      'session records cannot be written: sessions would not survive a restart',
      'session records are written again',
    ]);
    const next = await openRecords(directory);
    expect(await idsOf(next.records)).toEqual(['a', 'b', 'c']);
  });

  it('compact the file after a failed append, wherever the line was cut', async () => {
    const journal = new SessionJournal(path);
    const { records, logged, close } = await openRecords(directory, { journal, retryDelayMs: 0 });
    records.put(storedSession('a'), 1);
    await records.flush();
    // As after a failed append: the file is closed and ends with half a line.
    await journal.close();
    appendFileSync(path, '{"do":"keep","ses');
    records.put(storedSession('b'), 1);
    await close();
    expect(logged).toEqual([]);
    const next = await openRecords(directory);
    expect(await idsOf(next.records)).toEqual(['a', 'b']);
    expect(next.logged).toEqual([]);
  });

  it('keep records in memory if the directory is not writable', async () => {
    const readOnly = join(directory, 'state');
    mkdirSync(readOnly, { mode: 0o500 });
    await unprivileged(readOnly, async () => {
      const { records, logged } = await openRecords(readOnly);
      records.put(storedSession('a'), 1);
      await records.flush();
      expect(await idsOf(records)).toEqual(['a']);
      expect(records.failures).toBe(2);
      expect(logged).toEqual([
        'session records cannot be read: earlier sessions are not restored',
        'session records cannot be written: sessions would not survive a restart',
      ]);
    });
  });

  it('do not retry a full disk at every change', async () => {
    const { records } = await openRecords(directory, { retryDelayMs: 60_000 });
    fillDisk();
    for (const id of ['a', 'b', 'c']) {
      records.put(storedSession(id), 1);
      await records.flush();
    }
    expect(records.failures).toBe(1);
    expect(await idsOf(records)).toEqual(['a', 'b', 'c']);
  });
});
