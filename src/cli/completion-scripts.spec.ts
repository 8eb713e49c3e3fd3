import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { COMPLETION_SCRIPTS, COMPLETION_SHELLS } from './completion-scripts.js';

describe.each(COMPLETION_SHELLS)('the completion script for %s', (shell) => {
  const script = COMPLETION_SCRIPTS[shell];

  it('asks the program for what may follow, and leaves files to the shell', () => {
    expect(script).toMatch(/__complete -- .*2>\/dev\/null/);
    expect(script).toContain(':files');
  });

  it('has nothing in it that would run a name', () => {
    expect(script).not.toMatch(/\bcompgen\b|^\s*eval\b|`/m);
  });

  it('is one that the shell can read, where there is such a shell', () => {
    const { error, status, stderr } = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' });
    const isMissing = error !== undefined && 'code' in error && error.code === 'ENOENT';
    expect(isMissing ? 'no such shell' : `${status} ${stderr}`).toMatch(/^(no such shell|0 )$/);
  });
});
