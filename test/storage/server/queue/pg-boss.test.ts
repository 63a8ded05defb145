import { describe } from 'vitest';
import { systemEnv } from '../../../../src/env.ts';
import { silentLog } from '../../../../src/log.ts';
import { openDatabase } from '../../../../src/storage/server/database/database.ts';
import { openSharedQueue } from '../../../../src/storage/server/jobs/queue/pg-boss.ts';
import { openMeta } from '../../../../src/storage/server/meta/database.ts';
import { databaseOf, forgetDatabase, isOnPostgres } from '../database.ts';
import { queueContract } from './contract.ts';
import type { OpenQueue } from './support.ts';

let number = 0;

async function open(): Promise<OpenQueue> {
  const options = await databaseOf(`queue ${number}`);
  if (options === undefined) throw new Error('There is no server.');
  const database = await openDatabase(options, silentLog);
  const meta = await openMeta(database);
  const shared = await openSharedQueue({ database, meta, env: systemEnv, log: silentLog });
  return {
    meta,
    queue: shared.queue,
    async close() {
      await shared.close();
      await meta.destroy();
      await database.close();
    },
  };
}

describe.runIf(isOnPostgres)('over PostgreSQL', () => {
  queueContract('the queue of several processes', open, async () => {
    await forgetDatabase(`queue ${number}`);
    number++;
  });
});
