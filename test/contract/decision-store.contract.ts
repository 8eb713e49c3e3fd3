import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { decideProject, decideServer } from '../../src/state/decisions.js';
import type { Decisions, DecisionStore, ServerDecision } from '../../src/state/decision-store.js';
import { GatewayError } from '../../src/core/errors.js';

/** A store as one gateway process opens it; `close` is an orderly stop. */
export interface OpenStore {
  readonly state: DecisionStore;
  readonly close: () => Promise<void>;
}

const disable =
  (id: string) =>
  (decisions: Decisions): Decisions =>
    decideServer(decisions, id, (before) => ({ ...before, enabled: false }));

const put =
  (id: string, decision: ServerDecision) =>
  (decisions: Decisions): Decisions =>
    decideServer(decisions, id, () => decision);

/** Compared as text, because `toEqual` ignores a key called `__proto__`. */
const jsonOf = (servers: Iterable<readonly [string, ServerDecision]>): string[] =>
  [...servers].map((entry) => JSON.stringify(entry)).toSorted();

const fail = (): never => {
  throw new Error('no such server');
};

/** The contract of a DecisionStore. `makeStore` creates an empty store and returns a function that opens it. */
export const decisionStoreContract = (adapter: string, makeStore: () => () => Promise<OpenStore>): void => {
  describe(`${adapter} as DecisionStore`, () => {
    it('is empty at first', async () => {
      const { state } = await makeStore()();
      const [servers, projects, keys, stamps] = [new Map(), new Map(), new Map(), new Map()];
      expect(state.current).toEqual({ revision: 0, servers, projects, keys, stamps });
    });

    it('makes a change current and counts the revision itself', async () => {
      const { state } = await makeStore()();
      const outcome = await state.update((now) => ({ ...disable('db')(now), revision: 99 }));
      expect(outcome).toBe(state.current);
      expect(outcome.revision).toBe(1);
      expect(outcome.servers).toEqual(new Map([['db', { enabled: false }]]));
    });

    it('keeps all decisions for the next process', async () => {
      const open = makeStore();
      const { state, close } = await open();
      const definition = { url: 'https://example.test/mcp', headers: { A: 'ä\u2028"' }, n: [1, null, 0.1] };
      await state.update(put('added', { definition, enabled: true }));
      await state.update(put('gone', { removed: true }));
      await state.update(put('db', { tools: { write_file: false, 10: true, 9: false } }));
      await state.update((now) =>
        decideProject(now, 'payments', { servers: ['db', 'added'], description: '…' }),
      );
      await state.update((now) => decideProject(now, 'old', { removed: true }));
      await close();
      const next = await open();
      expect(next.state.current).toEqual(state.current);
      expect(next.state.current.revision).toBe(5);
    });

    it.each<[string, (decisions: Decisions) => Decisions]>([
      ['is the identity', (now) => now],
      ['decides the same again', disable('db')],
      ['has the same members in another order', put('web', { tools: { b: true, a: false }, enabled: true })],
      ['has the same members and an undefined one', put('db', { enabled: false, removed: undefined })],
      ['adds an empty decision', put('none', {})],
    ])('writes nothing and calls no listener when a change %s', async (_, change) => {
      const { state } = await makeStore()();
      await state.update(disable('db'));
      const before = await state.update(put('web', { enabled: true, tools: { a: false, b: true } }));
      const announced: number[] = [];
      state.onChange(({ revision }) => announced.push(revision));
      expect(await state.update(change)).toBe(before);
      expect(state.current).toBe(before);
      expect(announced).toEqual([]);
    });

    it('applies concurrent changes one at a time without losing any', async () => {
      const open = makeStore();
      const { state, close } = await open();
      const revisions: number[] = [];
      state.onChange((now, before) => revisions.push(before.revision, now.revision));
      await Promise.all(Array.from({ length: 20 }, (_, i) => state.update(disable(`server ${i}`))));
      await close();
      const { current } = (await open()).state;
      expect([...current.servers.keys()]).toEqual(Array.from({ length: 20 }, (_, i) => `server ${i}`));
      expect(revisions).toEqual(Array.from({ length: 20 }, (_, i) => [i, i + 1]).flat());
    });

    it('rejects with the error of a change and applies the next one', async () => {
      const { state } = await makeStore()();
      const refused = state.update(fail);
      const made = state.update(disable('db'));
      await expect(refused).rejects.toThrow('no such server');
      expect((await made).revision).toBe(1);
    });
  });

  describe(`${adapter} as DecisionStore, announcing changes`, () => {
    it('calls every listener before the change is acknowledged, with the previous decisions', async () => {
      const { state } = await makeStore()();
      const before = state.current;
      const announced: unknown[] = [];
      state.onChange((...change) => announced.push(change, state.current));
      const now = await state.update(disable('db'));
      expect(announced).toEqual([[now, before], now]);
    });

    it('calls the other listeners and keeps the change when one listener throws', async () => {
      const { state } = await makeStore()();
      const announced: number[] = [];
      state.onChange(fail);
      state.onChange(({ revision }) => announced.push(revision));
      expect((await state.update(disable('db'))).revision).toBe(1);
      expect(announced).toEqual([1]);
    });

    it('does not call a removed listener', async () => {
      const { state } = await makeStore()();
      const announced: number[] = [];
      const stop = state.onChange(({ revision }) => announced.push(revision));
      await state.update(disable('db'));
      stop();
      stop();
      await state.update(disable('web'));
      expect(announced).toEqual([1]);
    });

    it('allows a listener to make a change', async () => {
      const { state } = await makeStore()();
      const followed = new Promise<Decisions>((resolve) => {
        const stop = state.onChange(() => {
          stop();
          resolve(state.update(disable('web')));
        });
      });
      await state.update(disable('db'));
      expect((await followed).revision).toBe(2);
    });
  });

  describe(`${adapter} as DecisionStore, with unusual names and values`, () => {
    const names = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', '', '7'), fc.string());
    const decision = fc.record(
      {
        enabled: fc.boolean(),
        tools: fc.dictionary(names, fc.boolean()),
        definition: fc.dictionary(names, fc.jsonValue()),
      },
      { requiredKeys: [] },
    );

    it('finds nothing under the names of Object.prototype', async () => {
      const { state } = await makeStore()();
      await state.update(put('db', { tools: { a: false } }));
      const { servers } = state.current;
      const tools = servers.get('db')?.tools ?? {};
      expect(['constructor', 'toString', '__proto__'].map((name) => tools[name])).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect(servers.get('constructor')).toBeUndefined();
    });

    it('keeps every string exactly', async () => {
      const given = fc.array(fc.tuple(names, decision), { minLength: 1, maxLength: 4 });
      const property = fc.asyncProperty(given, async (decisions) => {
        const open = makeStore();
        const { state, close } = await open();
        for (const [id, decided] of decisions) await state.update(put(id, decided));
        await close();
        const next = await open();
        const expected = [...new Map(decisions)].filter(([, decided]) => Object.keys(decided).length > 0);
        expect(jsonOf(next.state.current.servers)).toEqual(jsonOf(expected));
        expect(next.state.current.revision).toBe(state.current.revision);
        expect(Object.keys(Object.prototype)).toEqual([]);
        await next.close();
      });
      await fc.assert(property, { numRuns: 25 });
    });

    it('is not affected by mutations of its arguments or results', async () => {
      const { state } = await makeStore()();
      const tools: Record<string, boolean> = { a: true };
      const definition = { args: ['x'] };
      await state.update(put('db', { tools, definition }));
      tools['a'] = false;
      definition.args.push('y');
      const kept = state.current.servers.get('db')!;
      expect(kept).toEqual({ tools: { a: true }, definition: { args: ['x'] } });
      expect(() => (kept.definition as typeof definition).args.push('z')).toThrow(TypeError);
      expect(() => Object.assign(kept.tools!, { a: false })).toThrow(TypeError);
    });
  });

  describe(`${adapter} as DecisionStore, when closed`, () => {
    it('finishes pending changes and rejects later ones', async () => {
      const open = makeStore();
      const { state, close } = await open();
      const begun = [state.update(disable('a')), state.update(disable('b'))];
      const closing = state.close();
      const late = state.update(disable('c'));
      await expect(late).rejects.toBeInstanceOf(GatewayError);
      await expect(late).rejects.toMatchObject({ kind: 'storage-unavailable' });
      await closing;
      expect((await Promise.all(begun)).map(({ revision }) => revision)).toEqual([1, 2]);
      await state.close();
      await close();
      expect((await open()).state.current.revision).toBe(2);
      expect(state.current.revision).toBe(2);
    });
  });
};
