import { describe, expect, it } from '@jest/globals';
import { launchGateway, writeConfig, type Gateway, type GatewayConfig } from '../kit/gateway.js';
import { within } from '../kit/until.js';

/** Starts, and expects it to end at once with exit code 2 and nothing on stdout. */
async function refused(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Gateway> {
  const gateway = launchGateway(args, env);
  const { code } = await within('the gateway to give up', gateway.exited);
  expect({ code, stdout: gateway.stdout }).toEqual({ code: 2, stdout: '' });
  return gateway;
}

const withConfig = (config: GatewayConfig | string): string[] => ['--config', writeConfig(config)];
const stdio = (more: object): GatewayConfig => ({ mcpServers: { files: { command: 'node', ...more } } });

describe('a start with something wrong in the config', () => {
  it.each<[string, GatewayConfig | string, RegExp]>([
    ['an unknown key', stdio({ argz: [] }), /^ {2}mcpServers\.files\.argz: .*args/m],
    ['a value of the wrong type', stdio({ args: [1] }), /^ {2}mcpServers\.files\.args\[0\]: /m],
    ['a number out of range', stdio({ concurrency: 0 }), /^ {2}mcpServers\.files\.concurrency: /m],
    [
      'an unset variable',
      stdio({ cwd: '${GATEHOUSE_TEST_UNSET}' }),
      /^ {2}mcpServers\.files\.cwd: .*_UNSET/m,
    ],
    ['an address beyond this machine', { http: { host: '0.0.0.0' } }, /^ {2}http\.host: /m],
    ['no JSON', '{ "http": ', /gatehouse\.json/],
  ])('ends with exit code 2 and the path of the key on stderr: %s', async (_what, config, said) => {
    const { stderr } = await refused(withConfig(config));
    expect(stderr).toMatch(/^gatehouse: /);
    expect(stderr).toMatch(said);
  });

  it('tells everything that is wrong at once', async () => {
    const config = { limits: { sessions: 0 }, mcpServers: { a: { comand: 'b' } } };
    const { stderr } = await refused(withConfig(config));
    for (const path of ['limits.sessions', 'mcpServers.a.comand']) expect(stderr).toContain(`  ${path}: `);
  });

  it('names the variable where the value came from the environment', async () => {
    const { stderr } = await refused(withConfig({}), { GATEHOUSE__LIMITS__PAGESIZE: 'many' });
    expect(stderr).toMatch(/limits\.pageSize: .*GATEHOUSE__LIMITS__PAGESIZE/);
  });

  it('does not repeat a secret', async () => {
    const config = { mcpServers: { x: { url: '${GATEHOUSE_TEST_SECRET}' } } };
    const { stderr } = await refused(withConfig(config), { GATEHOUSE_TEST_SECRET: 'hunter2hunter2' });
    expect(stderr).toContain('mcpServers.x.url');
    expect(stderr).not.toContain('hunter2hunter2');
  });

  it('names a file that is not there', async () => {
    const { stderr } = await refused(['--config', '/nonexistent/gatehouse.yaml']);
    expect(stderr).toContain('/nonexistent/gatehouse.yaml');
  });

  it('says how it is used when an option is unknown', async () => {
    const { stderr } = await refused(['--confg', 'x']);
    expect(stderr).toContain('--confg');
    expect(stderr).toContain('Usage: gatehouse');
  });
});
