import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDuckDbEngine } from '../../../../../src/service/stores/tables/duckdb/engine.ts';
import type { ByteSlice, TableEngine } from '../../../../../src/service/stores/tables/engine.ts';

/* Errors of the database on a full disk (seen on a small tmpfs), injected because filling a disk needs root. */

const FULL = 'Could not write file "tables.duckdb": No space left on device';
const INVALID =
  'FATAL Error: Failed: database has been invalidated because of a previous fatal error. The database must be restarted prior to being used again.';

/** A checkpoint that meets other writers. */
const BUSY = /^CHECKPOINT$/;

const TABLE = { bucket: 'in.c-full', table: 'rows' };
let folder: string;
let engine: TableEngine;
/** Statements that find no room. */
let refused: RegExp | undefined;
let isInvalid = false;
let opened = 0;

beforeEach(async () => {
  const fromCache = DuckDBInstance.fromCache.bind(DuckDBInstance);
  vi.spyOn(DuckDBInstance, 'fromCache').mockImplementation(async (...given) => {
    const instance = await fromCache(...given);
    opened++;
    isInvalid = false;
    const connect = instance.connect.bind(instance);
    instance.connect = async () => {
      const connection = await connect();
      const run = connection.runAndReadAll.bind(connection);
      connection.runAndReadAll = async (sql, ...values) => {
        if (isInvalid) throw new Error(INVALID);
        if (refused?.test(sql) !== true) return run(sql, ...values);
        if (refused === BUSY) throw new Error('TransactionContext Error: Cannot CHECKPOINT now');
        if (sql === 'CHECKPOINT') {
          isInvalid = true;
          throw new Error(`FATAL Error: Failed to create checkpoint because of error: ${FULL}`);
        }
        if (sql !== 'COMMIT') throw new Error(`IO Error: ${FULL}`);
        await run('ROLLBACK');
        throw new Error(`TransactionContext Error: Failed to commit: ${FULL}`);
      };
      return connection;
    };
    return instance;
  });
  refused = undefined;
  opened = 0;
  folder = await mkdtemp(join(tmpdir(), 'full-'));
  engine = createDuckDbEngine({ folder });
  await engine.open();
  await load(100, { create: { primaryKey: [] } });
});
afterEach(async () => {
  await engine.close();
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

async function load(rows: number, more: object = {}): Promise<unknown> {
  async function* slices(): AsyncGenerator<ByteSlice> {
    yield await Promise.resolve(bytes());
  }
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(Buffer.from('id,text\n'));
    for (let row = 0; row < rows; row += 100) {
      const lines = Array.from({ length: 100 }, (_, i) => `${row + i},${'x'.repeat(300)}${row + i}\n`);
      yield Buffer.from(lines.join(''));
    }
  }
  return engine.import(TABLE, { importedAt: new Date(), ...more }, slices());
}

const rows = async () => (await engine.describe(TABLE))?.rows;
const diskFull = { code: 'storage.diskFull' };

test.each([
  ['a commit', /^COMMIT$/],
  ['an insert', /^INSERT INTO "/],
])('%s that finds no room keeps the table as it was, and goes through later', async (_what, statement) => {
  refused = statement;
  await expect(load(200)).rejects.toMatchObject(diskFull);
  refused = undefined;
  expect(await rows()).toBe(100);
  await load(200);
  expect(await rows()).toBe(200);
  expect(opened).toBe(1);
});

test('an export that finds no room says so and leaves no file', async () => {
  refused = /^COPY/;
  const work = engine.export(TABLE, {}, { gzip: false, targetBytes: 1e6 }, () => Promise.resolve());
  await expect(work).rejects.toMatchObject(diskFull);
  expect(await readdir(join(folder, 'spool'))).toEqual([]);
});

test('a database that gave up over a checkpoint is opened again, and has what was committed', async () => {
  await load(10_000);
  refused = /^(?:COMMIT|CHECKPOINT)$/;
  await expect(load(200)).rejects.toMatchObject(diskFull);
  refused = undefined;
  expect(await rows()).toBe(10_000);
  expect(opened).toBe(2);
  await load(300, { incremental: true });
  expect(await rows()).toBe(10_300);
});

test('a checkpoint is no part of a commit, and may wait for others', async () => {
  refused = BUSY;
  for (let i = 0; i < 4; i++) await load(30_000);
  const { size } = await stat(join(folder, 'tables.duckdb.wal'));
  expect(size).toBeGreaterThan(30e6);
  refused = undefined;
  await load(100);
  expect(await readdir(folder)).not.toContain('tables.duckdb.wal');
  expect(opened).toBe(1);
});
