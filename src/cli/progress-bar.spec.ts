import { describe, expect, it } from '@jest/globals';
import { ProgressBar, type ReportedProgress } from './progress-bar.js';

function linesFor(reports: readonly ReportedProgress[], isTTY = true, columns = 80): string[] {
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
  it('shows progress and total, and removes the line at the end', () => {
    expect(
      linesFor([
        { progress: 1, total: 4 },
        { progress: 4, total: 4, message: 'done' },
      ]),
    ).toEqual(['██████░░░░░░░░░░░░░░░░░░  25%  1/4', '████████████████████████ 100%  4/4  done', '']);
  });

  it('shows the progress alone without a total', () => {
    expect(linesFor([{ progress: 12.345, message: 'rows' }])).toEqual(['12.35  rows', '']);
  });

  it.each([
    [{ progress: 9, total: 4 }, '100%'],
    [{ progress: -1, total: 4 }, '0%'],
    [{ progress: 3, total: 0 }, '3'],
    [{ progress: 1, total: 2, message: '\x1b[2J' }, '\\x1b[2J'],
  ])('shows %j within its bounds', (report, part) => {
    expect(linesFor([report])[0]).toContain(part);
  });

  it('truncates to the width of the terminal', () => {
    expect(linesFor([{ progress: 1, total: 2, message: 'x'.repeat(200) }], true, 40)[0]).toHaveLength(39);
  });

  it('writes nothing to a stream that is not a terminal', () => {
    expect(linesFor([{ progress: 1, total: 2 }], false)).toEqual([]);
  });
});
