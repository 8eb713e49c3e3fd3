import { expect, it } from '@jest/globals';
import { ADMIN_TOKEN } from '../kit/admin-client.js';
import { launch } from '../kit/command-line.js';
import { startGateway } from '../kit/gateway.js';
import { everythingOverStdio } from '../kit/real-servers.js';

it('gatehouse tools ls --query lists the best match first, not the first by name', async () => {
  const gateway = await startGateway({
    admin: { token: ADMIN_TOKEN },
    mcpServers: { everything: everythingOverStdio() },
  });
  await gateway.listed({ tools: ['everything'] });
  const env = { GATEHOUSE_URL: gateway.urlOf('/'), GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN };
  const { json } = await launch(['tools', 'ls', '--query', 'structured content', '-o', 'json'], env).done;
  const tools = json['tools'] as unknown as readonly { readonly name: string }[];
  const { json: found } = await launch(['tools', 'ls', '--query', 'content', '-o', 'json'], env).done;
  const names = (found['tools'] as unknown as typeof tools).map(({ name }) => name);
  expect(tools[0]!.name).toBe('everything__get-structured-content');
  expect(names.slice(0, 2)).toEqual([
    'everything__get-structured-content',
    'everything__get-annotated-message',
  ]);
});
