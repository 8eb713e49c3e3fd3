import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { hasPrerequisite } from './kit/prerequisite.js';
import { tempDir } from './kit/temp-dir.js';

describe('hasPrerequisite', () => {
  let notes: string[];
  const check = (isPresent: boolean, env: NodeJS.ProcessEnv): boolean =>
    hasPrerequisite('chromium', isPresent, { env, note: (text) => notes.push(text) });

  beforeEach(() => void (notes = []));

  it.each([{}, { CI: 'true' }])('is true without a message where the program is installed: %j', (env) => {
    expect(check(true, env)).toBe(true);
    expect(notes).toEqual([]);
  });

  it.each([{}, { CI: '' }, { CI: '0' }, { CI: 'false' }])(
    'is false with a message where the program is missing, outside of CI: %j',
    (env) => {
      expect(check(false, env)).toBe(false);
      expect(notes).toEqual(['chromium is missing: its tests are skipped']);
    },
  );

  it.each([{ CI: 'true' }, { CI: '1' }])('throws in CI where the program is missing: %j', (env) => {
    expect(() => check(false, env)).toThrow('chromium is missing: in CI its tests must run');
  });
});

/** Runs the part of the script that installs programs, on a machine without them, where apt-get fails. */
function install(env: NodeJS.ProcessEnv): { status: number | null; output: string } {
  const bin = join(tempDir(), 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'apt-get'), '#!/bin/sh\necho "apt-get $*"\nexit 100\n');
  chmodSync(join(bin, 'apt-get'), 0o755);
  const [part] = /# Two specs[^]*?\ndone\n/.exec(readFileSync('.ci/run', 'utf8'))!;
  const { status, stdout, stderr } = spawnSync(
    '/bin/bash',
    ['-c', `set -euo pipefail\n${part}echo continued`],
    { env: { PATH: bin, ...env }, encoding: 'utf8' },
  );
  return { status, output: stdout + stderr };
}

describe('.ci/run', () => {
  it('fails in CI when a program cannot be installed, and says which', () => {
    const { status, output } = install({ CI: 'true' });
    expect(status).not.toBe(0);
    expect(output).toContain('apt-get install -y --no-install-recommends tinyproxy');
    expect(output).toContain('tinyproxy cannot be installed');
    expect(output).not.toContain('continued');
  });

  it('continues outside of CI when a program cannot be installed', () => {
    const { status, output } = install({});
    expect(status).toBe(0);
    expect(output).toContain('tinyproxy cannot be installed');
    expect(output).toContain('chromium cannot be installed');
    expect(output).toContain('continued');
  });
});
