import { describe, expect, it, jest } from '@jest/globals';
import { ListenerSet } from './listener-set.js';

function recorded() {
  const calls: string[] = [];
  const record = (name: string) => () => void calls.push(name);
  return { calls, record };
}

describe('ListenerSet', () => {
  it('passes the arguments of an event to every listener', () => {
    const set = new ListenerSet<[name: string, count: number]>();
    const listeners = [jest.fn(), jest.fn()];
    for (const listener of listeners) set.add(listener);
    set.emit('a', 1);
    for (const listener of listeners) expect(listener.mock.calls).toEqual([['a', 1]]);
  });

  it('calls listeners by ascending order, and those of equal order as they were added', () => {
    const { calls, record } = recorded();
    const set = new ListenerSet();
    set.add(record('a'));
    set.add(record('last'), 1);
    set.add(record('b'));
    set.add(record('first'), -1);
    set.add(record('c'));
    set.emit();
    expect(calls).toEqual(['first', 'a', 'b', 'c', 'last']);
  });

  it('calls a listener that was added twice once, in its first place', () => {
    const { calls, record } = recorded();
    const set = new ListenerSet();
    const twice = record('twice');
    set.add(twice);
    set.add(record('other'));
    set.add(twice, 5);
    set.emit();
    expect(calls).toEqual(['twice', 'other']);
    expect(set.size).toBe(2);
  });

  it('does not call a listener after its removal, which may be repeated', () => {
    const set = new ListenerSet();
    const listener = jest.fn();
    const remove = set.add(listener);
    remove();
    remove();
    set.emit();
    expect(listener).not.toHaveBeenCalled();
    expect(set.size).toBe(0);
  });

  it('does not call a listener that an earlier listener of the same event removed', () => {
    const set = new ListenerSet();
    const removed = jest.fn();
    set.add(() => remove());
    const remove = set.add(removed);
    set.emit();
    expect(removed).not.toHaveBeenCalled();
  });

  it.each([-1, 0])(
    'calls a listener that was added during an event (order %i) from the next event on',
    (order) => {
      const set = new ListenerSet();
      const added = jest.fn();
      set.add(() => void set.add(added, order));
      set.emit();
      expect(added).not.toHaveBeenCalled();
      set.emit();
      expect(added).toHaveBeenCalledTimes(1);
    },
  );

  it('calls all listeners before it throws the first error', () => {
    const set = new ListenerSet();
    const after = jest.fn();
    for (const message of ['one', 'two'])
      set.add(() => {
        throw new Error(message);
      });
    set.add(after);
    expect(() => set.emit()).toThrow('one');
    expect(after).toHaveBeenCalledTimes(1);
  });

  it('reports every error to onError and does not throw', () => {
    const errors: unknown[] = [];
    const set = new ListenerSet((error) => errors.push(error));
    const after = jest.fn();
    set.add(() => {
      throw new Error('one');
    });
    set.add(after);
    set.emit();
    expect(errors).toEqual([new Error('one')]);
    expect(after).toHaveBeenCalledTimes(1);
  });
});
