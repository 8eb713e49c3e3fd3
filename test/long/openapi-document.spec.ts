import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';

describe('the OpenAPI document of the admin API', () => {
  it('is current, and so are the types of the client', () => {
    const output = execFileSync(process.execPath, ['scripts/openapi.mjs', '--check'], { encoding: 'utf8' });
    expect(output).toBe('');
  });
});
