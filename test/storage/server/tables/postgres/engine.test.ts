import { afterAll, beforeAll, describe } from 'vitest';
import { silentLog } from '../../../../../src/log.ts';
import { createPostgresEngine } from '../../../../../src/storage/server/tables/postgres/engine.ts';
import { testTableEngine } from '../contract.ts';
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
});
