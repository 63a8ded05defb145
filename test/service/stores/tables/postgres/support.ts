import { Readable } from 'node:stream';
import { afterAll, beforeAll } from 'vitest';
import type { Pool } from 'pg';
import { silentLog } from '../../../../../src/lib/log.ts';
import {
  createPostgresEngine,
  type PostgresEngineOptions,
} from '../../../../../src/service/stores/tables/postgres/engine.ts';
import { bytesOf } from '../slices.ts';
import { makeDatabase, type TestDatabase } from './database.ts';
import type {
  ByteSlice,
  ImportOutcome,
  ImportRequest,
  TableEngine,
  TableId,
} from '../../../../../src/service/stores/tables/engine.ts';
import type { RowQuery } from '../../../../../src/service/stores/tables/row-query.ts';

export const EARLY = new Date('2026-01-01T00:00:00Z');

/** A database for the tests of a file, made before them and dropped after them. */
export function useDatabase(): { readonly database: TestDatabase } {
  let made: TestDatabase | undefined;
  beforeAll(async () => {
    made = await makeDatabase();
  });
  afterAll(() => made?.drop());
  return {
    get database() {
      if (made === undefined) throw new Error('The database is made before the tests.');
      return made;
    },
  };
}

export async function openEngine(
  pool: Pool,
  options: Partial<PostgresEngineOptions> = {},
): Promise<TableEngine> {
  const engine = createPostgresEngine({ pool, schema: 'gex', log: silentLog, ...options });
  await engine.open();
  return engine;
}

export async function* slicesOf(...slices: (Buffer | ByteSlice | string)[]): AsyncGenerator<ByteSlice> {
  for (const slice of slices) {
    const isPlain = typeof slice === 'string' || Buffer.isBuffer(slice);
    yield await Promise.resolve(isPlain ? Readable.from([Buffer.from(slice)]) : slice);
  }
}

export async function load(
  engine: TableEngine,
  table: TableId,
  content: Buffer | ByteSlice | string,
  request: Partial<ImportRequest> = {},
): Promise<ImportOutcome> {
  return await engine.import(table, { importedAt: EARLY, ...request }, slicesOf(content));
}

export async function exported(engine: TableEngine, table: TableId, query: RowQuery = {}): Promise<string> {
  let text = '';
  await engine.export(table, query, { gzip: false, targetBytes: 1e6 }, async (slice) => {
    text += String(await bytesOf(slice));
  });
  return text;
}
