import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { storedSession, storedSubscription } from '../../test/kit/session-records.js';
import { tempDir } from '../../test/kit/temp-dir.js';
import { serializeChange, type SessionChange } from './session-change.js';
import { SessionJournal } from './session-journal.js';
import { SessionRecordSet } from './session-record-set.js';

const id = fc.constantFrom('a', 'b', 'c');
const uri = fc.constantFrom('x://1', 'x://\u2028日本', 'x://"\\\n', 'x://t/{id}');
const change: fc.Arbitrary<SessionChange> = fc.oneof(
  fc.record({
    do: fc.constant('keep' as const),
    session: id.map((one) => storedSession(one)),
    seen: fc.nat(),
  }),
  fc.record({ do: fc.constant('saw' as const), session: id, seen: fc.nat() }),
  fc.record({
    do: fc.constant('subscribe' as const),
    session: id,
    subscription: fc
      .tuple(id, uri, fc.boolean())
      .map(([one, what, isExact]) => ({ ...storedSubscription(one, what), ...(isExact && { isExact }) })),
  }),
  fc.record({ do: fc.constant('unsubscribe' as const), session: id, subscription: id }),
  fc.record({ do: fc.constant('forget' as const), session: id }),
);

const stateOf = (recordSet: SessionRecordSet): string => JSON.stringify([...recordSet.all()]);

/** Equal for equal records in any order. */
const sortedStateOf = (recordSet: SessionRecordSet): string[] =>
  [...recordSet.all()]
    .map((record) => ({ ...record, subscriptions: record.subscriptions.toSorted(byId) }))
    .map((record) => JSON.stringify(record))
    .toSorted();

const byId = (a: { id: string }, b: { id: string }): number => a.id.localeCompare(b.id);

function recordSetOf(changes: Iterable<SessionChange>): SessionRecordSet {
  const recordSet = new SessionRecordSet();
  for (const one of changes) recordSet.apply(one);
  return recordSet;
}

describe('SessionJournal', () => {
  let path = '';

  beforeEach(() => {
    path = join(tempDir(), 'sessions.jsonl');
  });

  const readState = async (): Promise<string> => {
    const { changes, damage } = await new SessionJournal(path).read();
    expect(damage).toBeUndefined();
    return stateOf(recordSetOf(changes));
  };

  it('is empty without a file and with an empty file', async () => {
    expect(await new SessionJournal(path).read()).toEqual({ changes: [] });
    writeFileSync(path, '');
    expect(await new SessionJournal(path).read()).toEqual({ changes: [] });
  });

  it('ignores an incomplete last line and reads lines appended later', async () => {
    const journal = new SessionJournal(path);
    await journal.replace([{ do: 'keep', session: storedSession('a'), seen: 1 }]);
    await journal.close();
    appendFileSync(path, '{"do":"forget","sess');
    const next = new SessionJournal(path);
    const { changes } = await next.read();
    expect(next.needsCompaction).toBe(true);
    await next.replace(recordSetOf(changes).changes());
    await next.append(serializeChange({ do: 'saw', session: 'a', seen: 2 }));
    await next.close();
    expect(await readState()).toBe(
      JSON.stringify([{ session: storedSession('a'), seen: 2, subscriptions: [] }]),
    );
  });

  it('yields an earlier state when it is truncated at any byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 8 }),
        fc.array(change, { minLength: 1, maxLength: 20 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (before, after, share) => {
          const journal = new SessionJournal(path);
          const recordSet = recordSetOf(before);
          await journal.replace(recordSet.changes());
          const compactedSize = readFileSync(path).length;
          const states = [stateOf(recordSet)];
          for (const one of after) {
            if (recordSet.apply(one)) await journal.append(serializeChange(one));
            states.push(stateOf(recordSet));
          }
          await journal.close();
          expect(await readState()).toBe(states.at(-1));
          const size = readFileSync(path).length;
          truncateSync(path, compactedSize + Math.round(share * (size - compactedSize)));
          expect(states).toContain(await readState());
        },
      ),
      { numRuns: 150 },
    );
  });

  it('yields the final state when changes are appended after a concurrent compaction', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 20 }),
        fc.array(fc.option(change, { freq: 2, nil: undefined }), { maxLength: 40 }),
        (before, meanwhile) => {
          const recordSet = recordSetOf(before);
          const compaction = recordSet.changes()[Symbol.iterator]();
          const [compacted, appended]: SessionChange[][] = [[], []];
          // Undefined stands for one step of the compaction.
          for (const one of meanwhile) {
            const step = one === undefined ? compaction.next() : undefined;
            if (step && !step.done) compacted!.push(step.value);
            if (one && recordSet.apply(one)) appended!.push(one);
          }
          for (let step = compaction.next(); !step.done; step = compaction.next())
            compacted!.push(step.value);
          expect(sortedStateOf(recordSetOf([...compacted!, ...appended!]))).toEqual(sortedStateOf(recordSet));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('yields the same state after a compaction', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        const recordSet = recordSetOf(changes);
        const journal = new SessionJournal(path);
        await journal.replace(recordSet.changes());
        await journal.close();
        expect(await readState()).toBe(stateOf(recordSet));
      }),
      { numRuns: 50 },
    );
  });
});
