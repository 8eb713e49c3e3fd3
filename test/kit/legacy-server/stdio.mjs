import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { buildServer } from './offer.mjs';

await buildServer().connect(new StdioServerTransport());
