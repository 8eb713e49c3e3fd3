import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { tempDir } from '../../test/kit/temp-dir.js';
import { mergeClientConfig } from './client-config-file.js';
import { CommandError } from './command-error.js';

const ENTRY = { mcpServers: { gatehouse: { url: 'http://127.0.0.1:3000/mcp' } } };

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

describe('mergeClientConfig', () => {
  it('creates a missing file for its owner alone, with its directory', () => {
    const path = join(tempDir(), '.cursor', 'mcp.json');
    expect(mergeClientConfig(path, ENTRY)).toBe('was written');
    expect(read(path)).toEqual(ENTRY);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('keeps everything else, the indentation and the mode of the file', () => {
    const path = join(tempDir(), 'mcp.json');
    writeFileSync(
      path,
      '{\n\t"theme": "dark",\n\t"mcpServers": { "other": { "command": "x" }, "gatehouse": {} }\n}',
    );
    chmodSync(path, 0o640);
    expect(mergeClientConfig(path, ENTRY)).toBe('was changed');
    expect(read(path)).toEqual({
      theme: 'dark',
      mcpServers: { other: { command: 'x' }, ...ENTRY.mcpServers },
    });
    expect(readFileSync(path, 'utf8')).toContain('\n\t"mcpServers": {\n\t\t"other"');
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(mergeClientConfig(path, ENTRY)).toBe('needs no change');
  });

  it('adds an input of VS Code once', () => {
    const path = join(tempDir(), 'mcp.json');
    const config = { servers: { gatehouse: {} }, inputs: [{ id: 'gatehouse-key' }] };
    writeFileSync(path, '{ "inputs": [{ "id": "other" }] }');
    mergeClientConfig(path, config);
    expect(mergeClientConfig(path, config)).toBe('needs no change');
    expect(read(path)).toEqual({ ...config, inputs: [{ id: 'other' }, { id: 'gatehouse-key' }] });
  });

  it.each(['{ // a comment\n "mcpServers": {} }', '{ "mcpServers": {}, }', '[]', 'x'])(
    'refuses %j and leaves the file as it is',
    (text) => {
      const path = join(tempDir(), 'mcp.json');
      writeFileSync(path, text);
      expect(() => mergeClientConfig(path, ENTRY)).toThrow(CommandError);
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );

  it('follows a symbolic link', () => {
    const directory = tempDir();
    mkdirSync(join(directory, 'dotfiles'));
    const target = join(directory, 'dotfiles', 'mcp.json');
    writeFileSync(target, '{}');
    const link = join(directory, 'mcp.json');
    symlinkSync(target, link);
    mergeClientConfig(link, ENTRY);
    expect(read(target)).toEqual(ENTRY);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });
});
