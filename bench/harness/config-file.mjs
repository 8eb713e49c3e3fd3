import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary directory that is removed when the benchmark ends. */
export function temporaryDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Writes a gateway configuration with a state directory of its own and returns its path. */
export function writeConfig(config) {
  const directory = temporaryDirectory();
  const path = join(directory, 'gatehouse.json');
  writeFileSync(path, JSON.stringify({ stateDir: join(directory, 'state'), ...config }));
  return path;
}
