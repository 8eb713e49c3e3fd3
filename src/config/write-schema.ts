import { writeFileSync } from 'node:fs';
import { schemaFileText } from './json-schema.js';
import { referenceText } from './reference.js';

// Run by `npm run schema`: writes the JSON Schema and the reference page of the configuration.
const root = new URL('../../', import.meta.url);
writeFileSync(new URL('config/gatehouse.schema.json', root), schemaFileText());
writeFileSync(new URL('docs/configuration.md', root), referenceText());
