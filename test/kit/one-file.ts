import { join } from 'node:path';
import { build } from 'esbuild';
import { tempDir } from './temp-dir.js';

/** A program of several modules as one file, for tests that start it often: to find and read them takes most of a start. */
export async function asOneFile(program: string): Promise<string> {
  const outfile = join(tempDir(), 'program.mjs');
  await build({ entryPoints: [program], outfile, bundle: true, platform: 'node', format: 'esm' });
  return outfile;
}
