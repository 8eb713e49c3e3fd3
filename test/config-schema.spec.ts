import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { schemaFileText } from '../src/config/json-schema.js';
import { referenceText } from '../src/config/reference.js';
import { loadConfig } from '../src/config/load-config.js';

describe('config/', () => {
  it('contains the schema of the config classes; if not, run `npm run schema`', () => {
    expect(readFileSync('config/gatehouse.schema.json', 'utf8')).toBe(schemaFileText());
  });

  it('is described by docs/configuration.md; if not, run `npm run schema`', () => {
    expect(readFileSync('docs/configuration.md', 'utf8')).toBe(referenceText());
  });

  it('contains a default config that can be loaded in an empty environment', () => {
    const config = loadConfig({ path: 'config/gatehouse.yaml', env: {} });
    expect(config.http).toMatchObject({ host: '127.0.0.1', port: 3000 });
    expect([...config.mcpServers.keys()]).toEqual(['everything', 'filesystem', 'memory']);
  });

  it('names the schema for editors in the default config', () => {
    const [first] = readFileSync('config/gatehouse.yaml', 'utf8').split('\n');
    expect(first).toBe('# yaml-language-server: $schema=./gatehouse.schema.json');
  });
});
