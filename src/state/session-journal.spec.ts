import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { storedSession, storedSubscription } from '../../test/kit/session-records.js';
import { tempDir } from '../../test/kit/temp-dir.js';
import { SessionJournal, writeChange, type SessionChange } from './session-journal.js';
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
    subscription: fc.tuple(id, uri).map(([one, what]) => storedSubscription(one, what)),
  }),
  fc.record({ do: fc.constant('unsubscribe' as const), session: id, subscription: id }),
  fc.record({ do: fc.constant('forget' as const), session: id }),
);

const stateOf = (ledger: SessionRecordSet): string => JSON.stringify([...ledger]);

/** Equal for any order of the records. */
const setOf = (ledger: SessionRecordSet): string[] =>
  [...ledger]
    .map((record) => ({ ...record, subscriptions: record.subscriptions.toSorted(byId) }))
    .map((record) => JSON.stringify(record))
    .toSorted();

const byId = (a: { id: string }, b: { id: string }): number => a.id.localeCompare(b.id);

function ledgerOf(changes: Iterable<SessionChange>): SessionRecordSet {
  const ledger = new SessionRecordSet();
  for (const one of changes) ledger.apply(one);
  return ledger;
}

describe('SessionJournal', () => {
  let path = '';

  beforeEach(() => {
    path = join(tempDir(), 'sessions.jsonl');
  });

  const readState = async (): Promise<string> => {
    const { changes, damage } = await new SessionJournal(path).read();
    expect(damage).toBeUndefined();
    return stateOf(ledgerOf(changes));
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
    await next.replace(ledgerOf(changes).changes());
    await next.append(writeChange({ do: 'saw', session: 'a', seen: 2 }));
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
          const ledger = ledgerOf(before);
          await journal.replace(ledger.changes());
          const whole = readFileSync(path).length;
          const states = [stateOf(ledger)];
          for (const one of after) {
            if (ledger.apply(one)) await journal.append(writeChange(one));
            states.push(stateOf(ledger));
          }
          await journal.close();
          expect(await readState()).toBe(states.at(-1));
          const size = readFileSync(path).length;
          truncateSync(path, whole + Math.round(share * (size - whole)));
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
          const ledger = ledgerOf(before);
          const walk = ledger.changes()[Symbol.iterator]();
          const [written, added]: SessionChange[][] = [[], []];
          // Where there is no change, the walk goes on by one.
          for (const one of meanwhile) {
            const step = one === undefined ? walk.next() : undefined;
            if (step && !step.done) written!.push(step.value);
            if (one && ledger.apply(one)) added!.push(one);
          }
          for (let step = walk.next(); !step.done; step = walk.next()) written!.push(step.value);
          expect(setOf(ledgerOf([...written!, ...added!]))).toEqual(setOf(ledger));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('yields the same state after a compaction', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        const ledger = ledgerOf(changes);
        const journal = new SessionJournal(path);
        await journal.replace(ledger.changes());
        await journal.close();
        expect(await readState()).toBe(stateOf(ledger));
      }),
      { numRuns: 50 },
    );
  });
});
