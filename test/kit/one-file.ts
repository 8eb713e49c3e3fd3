import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { tempDir } from './temp-dir.js';

/** A program of several modules as one file, for tests that start it often: to find and read them takes most of a start. */
export function asOneFile(program: string): string {
  const outfile = join(tempDir(), 'program.mjs');
  buildSync({ entryPoints: [program], outfile, bundle: true, platform: 'node', format: 'esm' });
  return outfile;
}
