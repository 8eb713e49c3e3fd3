import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoggerService } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { tempDir } from '../../test/kit/temp-dir.js';
import { AdminSettings } from '../config/admin-settings.js';
import { AdminTokens } from './admin-tokens.js';

const TOKEN = 'a-token-of-the-admin';
const VIEWER = 'a-token-of-the-viewer';

const settings = (values: Partial<AdminSettings> = {}): AdminSettings =>
  Object.assign(new AdminSettings(), values);

function recordingLogger(): LoggerService & { lines: string[] } {
  const lines: string[] = [];
  const add = (message: unknown): void => void lines.push(JSON.stringify(message));
  return { lines, log: add, warn: add, error: add };
}

describe('AdminTokens', () => {
  it.each([
    [`Bearer ${TOKEN}`, 'admin'],
    [`bearer ${TOKEN}`, 'admin'],
    [`Bearer ${VIEWER}`, 'viewer'],
    [`Bearer ${TOKEN}x`, undefined],
    [`Bearer ${TOKEN.slice(1)}`, undefined],
    ['Bearer ', undefined],
    [`Basic ${TOKEN}`, undefined],
    [TOKEN, undefined],
    [undefined, undefined],
  ])('maps %s to the role %s', (authorization, role) => {
    expect(new AdminTokens(TOKEN, VIEWER).roleOf(authorization)).toBe(role);
  });

  it('has no viewer role without a viewer token', () => {
    expect(new AdminTokens(TOKEN).roleOf('Bearer undefined')).toBeUndefined();
  });

  it('writes no file when the configuration has a token', async () => {
    const directory = tempDir();
    await AdminTokens.open(settings({ token: TOKEN }), directory, recordingLogger());
    expect(readdirSync(directory)).toEqual([]);
  });

  it('generates a token in a file of mode 0600, without a temporary file, and logs the path', async () => {
    const directory = tempDir();
    const logger = recordingLogger();
    const tokens = await AdminTokens.open(settings(), directory, logger);
    const path = join(directory, 'admin-token');
    const token = readFileSync(path, 'utf8').trim();
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(tokens.roleOf(`Bearer ${token}`)).toBe('admin');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['admin-token']);
    expect(logger.lines.join()).toContain(path);
    expect(logger.lines.join()).not.toContain(token);
  });

  it('generates and reports one token for gateways that start at the same time', async () => {
    const directory = tempDir();
    const logger = recordingLogger();
    const opened = await Promise.all(
      Array.from({ length: 10 }, () => AdminTokens.open(settings(), directory, logger)),
    );
    expect(new Set(opened.map(({ secrets }) => secrets[0])).size).toBe(1);
    expect(logger.lines).toHaveLength(1);
  });

  it('restricts a file that other users can read to mode 0600', async () => {
    const path = join(tempDir(), 'admin-token');
    writeFileSync(path, `${TOKEN}\n`);
    chmodSync(path, 0o644);
    const logger = recordingLogger();
    await AdminTokens.open(settings(), join(path, '..'), logger);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(logger.lines).toHaveLength(1);
  });

  it.each(['', 'short', 'two words of text'])('refuses a file that contains %j', async (content) => {
    const directory = tempDir();
    writeFileSync(join(directory, 'admin-token'), content);
    await expect(AdminTokens.open(settings(), directory, recordingLogger())).rejects.toThrow(
      'it contains no valid token',
    );
  });
});
