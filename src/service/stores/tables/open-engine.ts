import { join } from 'node:path';
import { findBranch } from '../metadata/branches.ts';
import { StorageError } from '../../../lib/errors.ts';
import { lazyEngine } from './lazy.ts';
import { checkEpoch, renewEpoch } from './folder-epoch.ts';
import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Meta } from '../metadata/database.ts';
import type { DuckDatabaseOptions } from './duckdb/database.ts';
import type { DuckDbEngine } from './duckdb/engine.ts';
import type { TableEngine } from './engine.ts';

export interface ServiceTables {
  readonly engine: TableEngine;
  /** The engine of the folder, opened. @throws when the tables are in a database */
  ofFolder(): Promise<DuckDbEngine>;
}

/** Opens the engine for the tables of the service: in its database when it has one, else in a file of its folder. */
export function serviceEngine({
  dir,
  database,
  meta,
  env,
  log,
}: {
  readonly dir: string | undefined;
  readonly database?: Database | undefined;
  readonly meta: Meta;
  readonly env: Env;
  readonly log: Log;
}): ServiceTables {
  let ofFolder: DuckDbEngine | undefined;
  const engine =
    database === undefined
      ? lazyEngine(false, async () => {
          if (dir === undefined) throw new Error('There is no folder for the tables.');
          const opened = await folderEngine(meta, dir);
          ofFolder = opened;
          return {
            ...opened,
            async compact() {
              const freed = await opened.compact();
              await renewEpoch(meta, opened, env);
              return freed;
            },
          };
        })
      : lazyEngine(true, async () => {
          const { createPostgresEngine } = await import('./postgres/engine.ts');
          const { pool, schema } = database;
          // Buckets of the default branch are called by their names alone.
          const main = `${(await findBranch(meta, 'default'))?.id}/`;
          const shownBucket = (bucket: string): string =>
            bucket.startsWith(main) ? bucket.slice(main.length) : bucket;
          return createPostgresEngine({ pool, schema, log, shownBucket });
        });
  return {
    engine,
    async ofFolder() {
      await engine.open();
      if (ofFolder === undefined) throw new Error('The tables are not in the folder.');
      return ofFolder;
    },
  };
}

/** Makes the engine of a folder, which opens tables that are of the time of the metadata. */
export async function folderEngine(
  meta: Meta,
  dir: string,
  limits: Pick<DuckDatabaseOptions, 'memoryLimitMb' | 'threads'> = {},
): Promise<DuckDbEngine> {
  const { createDuckDbEngine } = await import('./duckdb/engine.ts');
  const engine = createDuckDbEngine({ folder: join(dir, 'tables'), ...limits });
  return {
    ...engine,
    async open() {
      await engine.open().catch((error: unknown) => {
        throw unopened(error, dir);
      });
      try {
        await checkEpoch(meta, engine, dir);
      } catch (error) {
        await engine.close();
        throw error;
      }
    },
  };
}

/** Returns the error for tables that cannot be opened; one of the file system as it is. */
function unopened(error: unknown, dir: string): unknown {
  if (!(error instanceof Error) || 'syscall' in error) return error;
  const [message = ''] = error.message.split('\n');
  return new StorageError('storage.damaged', `The tables of the folder cannot be opened: ${message}`, {
    where: { file: join(dir, 'tables', 'tables.duckdb') },
    hint: [
      'Check its owner and permissions, and the room on its disk.',
      'One that a newer version has written is read by that version. One that is damaged comes back with its backup: gex storage restore FILE --to DIR',
    ],
    cause: error,
  });
}
