import { describe, expect, it } from '@jest/globals';
import { ProgressBar, type ReportedProgress } from './progress-bar.js';

function drawn(reports: readonly ReportedProgress[], isTTY = true, columns = 80): string[] {
  const written: string[] = [];
  const bar = new ProgressBar({
    isTTY,
    columns,
    write: (text) => written.push(text.replace('\r\x1b[2K', '')),
  });
  for (const report of reports) bar.update(report);
  bar.end();
  return written;
}

describe('ProgressBar', () => {
  it('follows how far something is, and goes away', () => {
    expect(
      drawn([
        { progress: 1, total: 4 },
        { progress: 4, total: 4, message: 'done' },
      ]),
    ).toEqual(['██████░░░░░░░░░░░░░░░░░░  25%  1/4', '████████████████████████ 100%  4/4  done', '']);
  });

  it('says how much where nobody knows of how much', () => {
    expect(drawn([{ progress: 12.345, message: 'rows' }])).toEqual(['12.35  rows', '']);
  });

  it.each([
    [{ progress: 9, total: 4 }, '100%'],
    [{ progress: -1, total: 4 }, '0%'],
    [{ progress: 3, total: 0 }, '3'],
    [{ progress: 1, total: 2, message: '\x1b[2J' }, '\\x1b[2J'],
  ])('bears %j', (report, part) => {
    expect(drawn([report])[0]).toContain(part);
  });

  it('never takes more than its line', () => {
    expect(drawn([{ progress: 1, total: 2, message: 'x'.repeat(200) }], true, 40)[0]).toHaveLength(39);
  });

  it('says nothing off a terminal', () => {
    expect(drawn([{ progress: 1, total: 2 }], false)).toEqual([]);
  });
});
