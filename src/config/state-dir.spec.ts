import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { recordLog } from '../../test/kit/log-lines.js';
import { unprivileged } from '../../test/kit/state-unprivileged.js';
import { tempDir } from '../../test/kit/temp-dir.js';
import { StateDir } from './state-dir.js';

describe('StateDir', () => {
  it('creates the directory for its owner alone', () => {
    const lines = recordLog();
    const path = join(tempDir(), 'a', 'b');
    expect(statSync(new StateDir(path).create().path).mode & 0o777).toBe(0o700);
    expect(lines).toEqual([]);
  });

  it.each([
    [0o755, '0755'],
    [0o710, '0710'],
    [0o701, '0701'],
  ])(
    'warns about an existing directory of mode %o and how to restrict it, and keeps the mode',
    (mode, text) => {
      const lines = recordLog();
      const path = tempDir();
      chmodSync(path, mode);
      new StateDir(path).create();
      expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
        expect.objectContaining({ level: 'warn', path, mode: text, fix: `chmod 700 ${path}` }),
      ]);
      expect(statSync(path).mode & 0o777).toBe(mode);
    },
  );

  it('accepts an existing directory of mode 0500', () => {
    const lines = recordLog();
    const path = tempDir();
    chmodSync(path, 0o500);
    new StateDir(path).create();
    expect(lines).toEqual([]);
  });
});

describe('StateDir.requireWritable', () => {
  it('creates the directory for its owner alone', () => {
    const path = join(tempDir(), 'a', 'b');
    new StateDir(path).requireWritable();
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it('throws one sentence that names the directory and what to do', async () => {
    const readOnly = tempDir();
    const file = join(readOnly, 'file');
    writeFileSync(file, '');
    chmodSync(readOnly, 0o500);
    await unprivileged(readOnly, () => {
      for (const [path, code] of [
        [file, 'EEXIST'],
        [join(file, 'state'), 'ENOTDIR'],
        [readOnly, 'EACCES'],
        [join(readOnly, 'state'), 'EACCES'],
      ] as const)
        expect(() => new StateDir(path).requireWritable()).toThrow(
          `cannot write to stateDir ${path} (${code}): give this user the right to write there, ` +
            'or choose another directory with stateDir or GATEHOUSE__STATEDIR',
        );
      return Promise.resolve();
    });
  });
});
