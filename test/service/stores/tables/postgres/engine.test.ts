import { afterAll, beforeAll, describe } from 'vitest';
import { silentLog } from '../../../../../src/lib/log.ts';
import { createPostgresEngine } from '../../../../../src/service/stores/tables/postgres/engine.ts';
import { testTableEngine } from '../contract.ts';
import { testTypedTables } from '../typed-tables.ts';
import { makeDatabase, SERVER, type TestDatabase } from './database.ts';

describe.runIf(SERVER)('over PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await makeDatabase();
  });
  afterAll(() => database.drop());

  testTableEngine('PostgreSQL', () =>
    createPostgresEngine({ pool: database.pool, schema: 'gex', log: silentLog }),
  );

  for (const [name, few] of [
    ['PostgreSQL', undefined],
    ['PostgreSQL with large files', { rows: -1, bytes: -1 }],
  ] as const)
    testTypedTables(name, () =>
      createPostgresEngine({
        pool: database.pool,
        schema: few === undefined ? 'typed' : 'typed_large',
        log: silentLog,
        ...(few === undefined ? {} : { few }),
      }),
    );

  // The files of the contract are small: here their rows come by a table of their own as those of large ones do.
  testTableEngine('PostgreSQL with large files', () =>
    createPostgresEngine({
      pool: database.pool,
      schema: 'large',
      log: silentLog,
      few: { rows: -1, bytes: -1 },
    }),
  );
});
