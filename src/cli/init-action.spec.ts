import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { tempDir } from '../../test/kit/temp-dir.js';
import { loadConfig, readConfig } from '../config/load-config.js';
import { CONFIG_TEMPLATE } from './config-template.js';
import { initConfig } from './init-action.js';

/** The template with its examples in effect: lines with a key lose their comment mark. */
const EXAMPLES = CONFIG_TEMPLATE.replaceAll(/^( *)# ( *[\w]+:.*)$/gm, '$1$2');

describe('initConfig', () => {
  it('writes a valid file with its directory, and says what to do next', () => {
    const print = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const path = join(tempDir(), 'config', 'g.yaml');
    initConfig(path);
    expect(print).toHaveBeenCalledWith(expect.stringContaining(`gatehouse --config ${path}`));
    print.mockRestore();
    expect(loadConfig({ path, env: {} }).mcpServers.size).toBe(0);
  });

  it('writes examples that are valid', () => {
    const env = { GITHUB_TOKEN: 'secret-token' };
    const config = readConfig({ text: EXAMPLES, source: 'g.yaml', env });
    expect([...config.mcpServers.keys()]).toEqual(['filesystem', 'github']);
    expect(config.mcpServers.get('filesystem')!.tools.disabled).toEqual(['write_file']);
    expect([...config.projects.keys()]).toEqual(['docs']);
  });

  it('never changes an existing file', () => {
    const path = join(tempDir(), 'g.yaml');
    writeFileSync(path, 'http: {}\n');
    expect(() => initConfig(path)).toThrow(`${path} exists already and was not changed`);
    expect(readFileSync(path, 'utf8')).toBe('http: {}\n');
  });

  it('refuses a name that is not YAML', () => {
    expect(() => initConfig('g.json')).toThrow('must end in .yaml or .yml');
  });
});
