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
    const heard: unknown[] = [];
    live.onChange((now, before) => heard.push([live.current === now, now, before]));
    live.replace(second);
    expect(heard).toEqual([[true, second, first]]);
  });

  it('does not call a removed listener', () => {
    const live = liveConfig({});
    let calls = 0;
    const leave = live.onChange(() => calls++);
    live.replace(first);
    leave();
    live.replace(second);
    expect(calls).toBe(1);
  });
});
