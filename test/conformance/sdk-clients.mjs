import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const INFO = { name: 'conformance-client', version: '1.0.0' };
const FORMS = { elicitation: { form: { applyDefaults: true } } };
/** The SDKs add the defaults of the form to an empty content. */
const accept = () => ({ action: 'accept', content: {} });

const clients = {
  2025: {
    create: (capabilities) => new LegacyClient(INFO, { capabilities }),
    Transport: LegacyTransport,
    forms: ElicitRequestSchema,
  },
  2026: {
    create: (capabilities) =>
      new Client(INFO, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    Transport: StreamableHTTPClientTransport,
    forms: 'elicitation/create',
  },
};

/** Connects the SDK client of an era, which accepts every form if it is to. */
export async function connect(era, url, withForms) {
  const { create, Transport, forms } = clients[era];
  const client = create(withForms ? FORMS : {});
  if (withForms) client.setRequestHandler(forms, accept);
  await client.connect(new Transport(new URL(url)));
  return client;
}
