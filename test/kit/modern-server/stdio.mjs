// Serves the offer over stdio. With the argument `reject`, only in revision 2026-07-28.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { buildServer } from './offer.mjs';

const [legacy = 'serve'] = process.argv.slice(2);
serveStdio(() => buildServer(), { legacy });
