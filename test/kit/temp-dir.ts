import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onCleanup } from './cleanup.js';

/** Creates a temporary directory. It is deleted after the test. */
export function tempDir(): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  onCleanup(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
