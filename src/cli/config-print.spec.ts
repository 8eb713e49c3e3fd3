import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../config/load-config.js';
import { asYaml, effectiveConfig } from './config-print.js';

const text = `
admin: { token: "0123456789abcdef0123" }
mcpServers:
  a.b: { url: "https://\${HOST_NAME}/mcp", headers: { Authorization: "Bearer abc" } }
  c: { command: node, args: ["--key=\${KEY}", "$\${plain}"], env: { TOKEN: secret-value } }
`;
const config = readConfig({ text, source: 'a.yaml', env: { HOST_NAME: 'inside.example', KEY: 'hunter22' } });

describe('effectiveConfig', () => {
  it('contains defaults and masks secrets', () => {
    const shown = effectiveConfig(config);
    expect(shown).toMatchObject({
      http: { host: '127.0.0.1', port: 3000 },
      admin: { token: '********' },
      mcpServers: { 'a.b': { headers: { Authorization: '********' }, concurrency: 64 } },
    });
    expect(asYaml(shown)).not.toMatch(/0123456789|Bearer|hunter22|secret-value|inside\.example/);
  });

  it('can be read again, with the same values except for secrets', () => {
    const shown = { ...effectiveConfig(config), admin: {} };
    const again = readConfig({ text: asYaml(shown), source: 'b.yaml', env: {} });
    expect(again.mcpServers.get('c')).toMatchObject({ args: ['--key=********', '${plain}'] });
    expect(again.limits).toEqual(config.limits);
  });
});
