import { VERSION } from '../../version.js';
import type { JsonSchema } from '../../config/json-schema.js';
import { paths } from './paths.js';
import { schemas } from './schemas.js';

/** The admin API in the words of OpenAPI 3.1. A spec holds it against the routes there really are. */
export const openApiDocument = (): JsonSchema => ({
  openapi: '3.1.0',
  info: {
    title: 'Gatehouse admin API',
    version: VERSION,
    description:
      'Switches servers and tools on and off, defines servers and projects, and shows what is going on.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{ adminToken: [] }],
  tags: ['servers', 'catalog', 'projects', 'sessions', 'subscriptions', 'config', 'events', 'docs'].map(
    (name) => ({ name }),
  ),
  paths,
  components: {
    securitySchemes: {
      adminToken: {
        type: 'http',
        scheme: 'bearer',
        description: 'admin.token of the configuration, else the content of admin-token in stateDir.',
      },
    },
    schemas: schemas(),
  },
});
