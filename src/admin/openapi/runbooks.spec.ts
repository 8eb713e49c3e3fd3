import { describe, expect, it } from '@jest/globals';
import { runbooksIn } from './runbooks.js';

describe('runbooksIn', () => {
  it('is the text below each heading that names an alert', () => {
    const manual =
      '# Manual\n\n### GatehouseNot\n\nOne,\n\n- two.\n\n### GatehouseB\n\nB `#1`.\n\n## Other\n\n### x\n\ny\n';
    expect([...runbooksIn(manual)]).toEqual([
      ['GatehouseNot', 'One,\n\n- two.'],
      ['GatehouseB', 'B `#1`.'],
    ]);
  });

  it('is empty without such a heading', () => {
    expect(runbooksIn('# Manual\n\n### Gatehouse and more\n').size).toBe(0);
  });
});
