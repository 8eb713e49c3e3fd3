import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { FileAuditLog } from '../../build/state/audit/file-audit-log.js';
import { verifyAudit } from '../../build/state/audit/verify-audit.js';
import { DirectoryLock } from '../../build/state/directory-lock.js';

/** Adds entries until the file cannot grow, then rotates it. Prints the outcome as JSON. */
const [directory = ''] = process.argv.slice(2);
const path = join(directory, 'audit.jsonl');
const lock = new DirectoryLock(directory);
const audit = await FileAuditLog.open(directory, lock);
const event = { actor: 'a', action: 'b', target: 'c', outcome: 'd', requestId: 'e' };

const kinds = [];
while (kinds.length < 2) await audit.append(event).catch((error) => kinds.push(error.kind));
const before = await verifyAudit(path);
// As the rotation by size does.
await rename(path, `${path}.1`);
await audit.append(event);
const after = await verifyAudit(path);
process.stdout.write(JSON.stringify({ kinds, added: before.entries, afterwards: after.entries }));
await lock.release();
