import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { NODE } from './kit/program.js';
import { tempDir } from './kit/temp-dir.js';

const BUILDING = /^Building Gatehouse: .*\n/;

/** A clone whose `npm` runs this shell script. */
function cloneWith(npm: string): () => { code: number | null; stdout: string; stderr: string } {
  const dir = tempDir();
  for (const folder of ['scripts', 'src', 'docs', 'bin', 'dist']) mkdirSync(join(dir, folder));
  for (const file of [
    'src/main.ts',
    'docs/operations.md',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ])
    writeFileSync(join(dir, file), '');
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
  copyFileSync('scripts/start.mjs', join(dir, 'scripts/start.mjs'));
  writeFileSync(join(dir, 'bin/npm'), `#!/bin/sh\n${npm}\n`);
  chmodSync(join(dir, 'bin/npm'), 0o755);
  return () => {
    const env = { PATH: `${join(dir, 'bin')}:${process.env['PATH']}` };
    const options = { cwd: dir, env, encoding: 'utf8', timeout: 20_000 } as const;
    const { status, stdout, stderr } = spawnSync(NODE, ['scripts/start.mjs'], options);
    return { code: status, stdout, stderr };
  };
}

describe('npm start', () => {
  it('says on stderr that it builds, and only if it builds', () => {
    const start = cloneWith(`echo 'console.log("listens");' > dist/main.js`);
    const first = start();
    expect(first).toMatchObject({ code: 0, stdout: 'listens\n' });
    expect(first.stderr).toMatch(BUILDING);
    expect(start()).toEqual({ code: 0, stdout: 'listens\n', stderr: '' });
  });

  it('ends with a sentence instead of a stack when the build fails', () => {
    const { code, stdout, stderr } = cloneWith('echo "src/a.ts: wrong" >&2; exit 2')();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.replace(BUILDING, '')).toBe(
      'src/a.ts: wrong\nThe build failed: correct the errors above, or run `npm ci` and start again.\n',
    );
  });
});
