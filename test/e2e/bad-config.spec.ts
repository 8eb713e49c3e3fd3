import { describe, expect, it } from '@jest/globals';
import { launchGateway, writeConfig, type Gateway, type GatewayConfig } from '../kit/gateway.js';
import { within } from '../kit/until.js';

/** Starts the gateway, and expects exit code 2 and no output on stdout. */
async function startRefused(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Gateway> {
  const gateway = launchGateway(args, env);
  const { code } = await within('the gateway to exit', gateway.exited);
  expect({ code, stdout: gateway.stdout }).toEqual({ code: 2, stdout: '' });
  return gateway;
}

const withConfig = (config: GatewayConfig | string): string[] => ['--config', writeConfig(config)];

describe('a start with an invalid config', () => {
  it('exits with code 2 and writes the path of every invalid key to stderr', async () => {
    const { stderr } = await startRefused(
      withConfig({
        http: { host: '0.0.0.0' },
        limts: {},
        mcpServers: {
          files: {
            command: 'node',
            argz: [],
            args: ['ok', 1],
            concurrency: 0,
            cwd: '${GATEHOUSE_TEST_UNSET}',
          },
          neither: {},
          'not an id': { command: 'node' },
          remote: { url: 'ftp://example.com' },
        },
        naming: { tools: 'sometimes' },
      }),
    );
    expect(stderr).toMatch(/^gatehouse: .*gatehouse\.json/);
    for (const line of [
      /^ {2}http\.host: /m,
      /^ {2}limts: .*limits/m,
      /^ {2}mcpServers\.files\.argz: .*args/m,
      /^ {2}mcpServers\.files\.args\[1\]: /m,
      /^ {2}mcpServers\.files\.concurrency: /m,
      /^ {2}mcpServers\.files\.cwd: .*GATEHOUSE_TEST_UNSET/m,
      /^ {2}mcpServers\.neither\.command: /m,
      /^ {2}mcpServers\["not an id"\]: /m,
      /^ {2}mcpServers\.remote\.url: /m,
      /^ {2}naming\.tools: /m,
    ])
      expect(stderr).toMatch(line);
  });

  it('names the file that is not JSON', async () => {
    expect((await startRefused(withConfig('{ "http": '))).stderr).toContain('gatehouse.json');
  });

  it.each([
    [['--config', '/nonexistent/gatehouse.yaml']],
    [['-c', '/nonexistent/gatehouse.yaml']],
    [['serve', '--config=/nonexistent/gatehouse.yaml']],
  ])('names the missing file and what to do in one sentence with the arguments %j', async (args) => {
    const { stderr } = await startRefused(args);
    expect(stderr).toBe(
      'gatehouse: the configuration file /nonexistent/gatehouse.yaml does not exist: check the path, ' +
        'or create the file with `gatehouse init /nonexistent/gatehouse.yaml`\n',
    );
  });

  it('names the variable of an invalid value from the environment, without the value of a secret', async () => {
    const { stderr } = await startRefused(
      withConfig({ mcpServers: { x: { url: '${GATEHOUSE_TEST_SECRET}' } } }),
      {
        GATEHOUSE_TEST_SECRET: 'hunter2hunter2',
        GATEHOUSE__LIMITS__PAGESIZE: 'many',
      },
    );
    expect(stderr).toMatch(/limits\.pageSize: .*GATEHOUSE__LIMITS__PAGESIZE/);
    expect(stderr).toContain('mcpServers.x.url');
    expect(stderr).not.toContain('hunter2hunter2');
  });

  it.each([
    ['an option is unknown', ['--confg', 'x'], "unknown option '--confg'"],
    ['the file is missing', ['--config'], 'argument missing'],
    ['there are too many arguments', ['serve', 'now'], 'too many arguments'],
  ])('prints its usage when %s', async (_what, args, words) => {
    const { stderr } = await startRefused(args);
    expect(stderr).toContain(words);
    expect(stderr).toContain('Usage: gatehouse');
  });
});
