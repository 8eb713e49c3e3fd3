import { describe, expect, it } from '@jest/globals';
import { configOf, liveConfig } from '../../test/kit/config.js';

const [first, second] = [configOf({ http: { port: 1 } }), configOf({ http: { port: 2 } })];

describe('LiveConfig', () => {
  it('returns the latest configuration', () => {
    const live = liveConfig({});
    live.replace(first);
    live.replace(second);
    expect(live.current).toBe(second);
  });

  it('calls listeners with the new and the previous configuration after a change', () => {
    const live = liveConfig({});
    live.replace(first);
    const calls: unknown[] = [];
    live.onChange((now, before) => calls.push([live.current === now, now, before]));
    live.replace(second);
    expect(calls).toEqual([[true, second, first]]);
  });

  it('does not call a removed listener', () => {
    const live = liveConfig({});
    let calls = 0;
    const removeListener = live.onChange(() => calls++);
    live.replace(first);
    removeListener();
    live.replace(second);
    expect(calls).toBe(1);
  });
});
