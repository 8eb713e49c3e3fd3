import { DirectoryLock } from '../../build/state/directory-lock.js';

/** Holds the lock of a directory. `exit` exits at once without releasing it, `stay` prints `held` and keeps running. */
const [directory = '', then] = process.argv.slice(2);
await new DirectoryLock(directory).acquire();
if (then === 'exit') process.exit(0);
process.stdout.write('held\n');
setInterval(() => undefined, 1000);
