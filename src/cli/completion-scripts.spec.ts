import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { COMPLETION_SCRIPTS, COMPLETION_SHELLS } from './completion-scripts.js';

describe.each(COMPLETION_SHELLS)('completion script for %s', (shell) => {
  const script = COMPLETION_SCRIPTS[shell];

  it('calls the hidden completion command and leaves file names to the shell', () => {
    expect(script).toMatch(/__complete -- .*2>\/dev\/null/);
    expect(script).toContain(':files');
  });

  it('contains no command that would execute a candidate', () => {
    expect(script).not.toMatch(/\bcompgen\b|^\s*eval\b|`/m);
  });

  it('has no syntax error, if the shell is installed', () => {
    const { error, status, stderr } = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' });
    const isMissing = error !== undefined && 'code' in error && error.code === 'ENOENT';
    expect(isMissing ? 'no such shell' : `${status} ${stderr}`).toMatch(/^(no such shell|0 )$/);
  });
});
