// Serves over stdio in the era that a file names: `switched-stdio.mjs reject <file>`. The first argument is of the server of 2026.
import { readFileSync } from 'node:fs';

const era = readFileSync(process.argv[3], 'utf8');
await import(era === '2025' ? './legacy-server/stdio.mjs' : './modern-server/stdio.mjs');
