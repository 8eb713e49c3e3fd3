import { writeFileSync } from 'node:fs';
import { schemaFileText } from './json-schema.js';
import { referenceText } from './reference.js';

// The script behind `npm run schema`: what editors check config files against, and what people read.
const root = new URL('../../', import.meta.url);
writeFileSync(new URL('config/gatehouse.schema.json', root), schemaFileText());
writeFileSync(new URL('docs/configuration.md', root), referenceText());
