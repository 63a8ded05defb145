import { join } from 'node:path';
import type { Log } from '../../../lib/log.ts';
import { closeToOthers } from '../../../lib/private-files.ts';

/** Entries of a storage folder. Nothing below them can be reached by users without access to them. */
const CONTENT = [
  'meta.sqlite',
  'meta.sqlite-shm',
  'meta.sqlite-wal',
  'objects',
  'objects.secret',
  'encryption.key',
  'service.json',
  'service.lock',
  'tables',
  'tables/tables.duckdb',
  'tables/tables.duckdb.wal',
];

/** Keeps a storage folder for its user alone, also one that an earlier version made; says so when it was not. */
export function closeFolder(dir: string, log: Log): void {
  const found = ['', ...CONTENT].map((name) => closeToOthers(join(dir, name)));
  if (found.includes('open'))
    log.warn(
      'Other users of this machine may read parts of the storage folder, which belong to another user',
      {
        dir,
      },
    );
  else if (found[0] === 'closed')
    log.info('The storage folder was open to other users of this machine, and is not any more', { dir });
}
