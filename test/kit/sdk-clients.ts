import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onCleanup } from './cleanup.js';

export { ClientV1, ClientV2 };

const INFO = { name: 'e2e', version: '1' };

/** The SDK of the 2025 era. `prepare` sets handlers before the handshake. */
export async function connectV1(
  url: string,
  capabilities: object = {},
  prepare: (client: ClientV1) => void = () => {},
  headers: Record<string, string> = {},
): Promise<ClientV1> {
  const client = new ClientV1(INFO, { capabilities });
  prepare(client);
  const transport = new TransportV1(new URL(url), { requestInit: { headers } });
  onCleanup(() => client.close());
  await client.connect(transport);
  return client;
}

/** The SDK of the 2026 era, in its mode for the revisions of the 2025 era. */
export async function connectV2(
  url: string,
  capabilities: object = {},
  prepare: (client: ClientV2) => void = () => {},
  headers: Record<string, string> = {},
): Promise<ClientV2> {
  return connectIn('legacy', url, capabilities, prepare, headers);
}

/** The SDK of the 2026 era. `pin` requires revision 2026-07-28; `auto` asks which revision the server offers. */
export async function connectModern(
  url: string,
  capabilities: object = {},
  prepare: (client: ClientV2) => void = () => {},
  headers: Record<string, string> = {},
  mode: 'auto' | 'pin' = 'pin',
): Promise<ClientV2> {
  return connectIn(mode === 'pin' ? { pin: '2026-07-28' } : mode, url, capabilities, prepare, headers);
}

async function connectIn(
  mode: 'legacy' | 'auto' | { readonly pin: string },
  url: string,
  capabilities: object,
  prepare: (client: ClientV2) => void,
  headers: Record<string, string>,
): Promise<ClientV2> {
  const client = new ClientV2(INFO, { capabilities, versionNegotiation: { mode } });
  prepare(client);
  const transport = new TransportV2(new URL(url), { requestInit: { headers } });
  onCleanup(() => client.close());
  await client.connect(transport);
  return client;
}
