import { afterAll, beforeAll, describe } from 'vitest';
import { silentLog } from '../../../../../src/lib/log.ts';
import { createPostgresEngine } from '../../../../../src/service/stores/tables/postgres/engine.ts';
import { testTableEngine } from '../contract.ts';
import { BOUNCER, startBouncer, type Bouncer } from './bouncer.ts';
import { SERVER } from './database.ts';
import { useDatabase } from './support.ts';

describe.runIf(SERVER !== undefined && BOUNCER !== undefined)('over pgbouncer', () => {
  const given = useDatabase();
  let bouncer: Bouncer;
  beforeAll(async () => {
    bouncer = await startBouncer(given.database);
  });
  afterAll(() => bouncer.stop());

  testTableEngine('PostgreSQL, a connection only for a transaction,', () =>
    createPostgresEngine({ pool: bouncer.pool, schema: 'gex', log: silentLog }),
  );
});
