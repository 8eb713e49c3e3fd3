import { writeFileSync } from 'node:fs';
import { schemaFileText } from './json-schema.js';

// The script behind `npm run schema`: editors check config files against what it writes.
const file = new URL('../../config/gatehouse.schema.json', import.meta.url);
writeFileSync(file, schemaFileText());
