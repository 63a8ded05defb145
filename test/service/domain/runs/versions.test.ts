// @module-tag thorough
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bytesBody, StorageClient } from '../../../../src/storage/client/index.ts';
import { json, startApi, startGex, type Ended } from '../../../cli/support.ts';
import { clientOf, type FileBody } from '../../data/client.ts';
import { readSlices } from '../../data/slices.ts';
import { startService } from '../../harness.ts';
import { isOnPostgres } from '../../database.ts';
import { EXTENSIONS } from '../../stores/tables/lake/support.ts';
import { books, startWorld } from './support.ts';

/* Changes of tables of a lake by runs, and the way back: through the API and the command. */

const TABLE = 'in.c-library.books';

// Over PostgreSQL a lake has its files in an object store, which these tests do not have.
describe.runIf(EXTENSIONS !== undefined && !isOnPostgres)('tables of a lake', () => {
  test('tell which run changed what, are read as they were, and are set back', async () => {
    let list: readonly object[] = [
      { id: 1, title: 'Emma' },
      { id: 2, title: 'Ulyses' },
    ];
    const api = await startApi((_request, response) => json(response, list));
    const world = await startWorld({ tables: 'lake' });
    const jobs = [{ endpoint: 'books', dataType: 'books' }];
    const mappings = {
      books: {
        id: { type: 'column', mapping: { destination: 'id', primaryKey: true } },
        title: { type: 'column', mapping: { destination: 'title' } },
      },
    };
    const id = await world.configure('shelf', books(api.url, { jobs, mappings }));
    const first = await world.ended((await world.start(id)).id);
    list = [
      { id: 2, title: 'Ulysses' },
      { id: 3, title: 'Dubliners' },
    ];
    const second = await world.ended((await world.start(id)).id);
    expect([first.status, second.status]).toEqual(['success', 'success']);

    const { url } = world.addresses;
    const client = new StorageClient({ url, token: world.token });
    onTestFinished(() => client.close());
    const history = await client.tables.versions(TABLE);
    expect(history).toMatchObject([
      {
        change: 'replace',
        rowsCount: 2,
        importedRowsCount: 2,
        runId: second.id,
        component: 'ex-generic-v2',
        configuration: 'shelf',
        configurationRow: null,
        configurationVersion: 1,
      },
      { change: 'create', runId: first.id, configuration: 'shelf', configurationVersion: 1 },
    ]);
    expect(history[0]?.jobId).toBeGreaterThan(history[1]?.jobId ?? Infinity);
    const [then, made] = history.map(({ version }) => version).toReversed();

    const gex = async (...args: readonly string[]): Promise<Ended> =>
      await startGex(['storage', 'tables', ...args, '--storage', url], {
        env: { ...process.env, KBC_TOKEN: world.token },
      }).ended;
    const told = await gex('history', TABLE);
    expect(told.stdout).toMatch(
      new RegExp(`^ *${made} .* replace +2 +2 +${second.id} +ex-generic-v2/shelf v1 `, 'm'),
    );
    expect((await gex('diff', TABLE, '--run', second.id)).stdout).toBe(
      [
        `Version ${(made ?? 0) - 1} to ${made}: 1 added, 1 removed, 1 changed.`,
        '',
        '   id  title',
        '~  2   Ulyses → Ulysses',
        '+  3   Dubliners',
        '-  1   Emma',
        '',
      ].join('\n'),
    );
    const same = { addedCount: 1, removedCount: 1, changedCount: 1 };
    expect(await client.tables.difference(TABLE, { version: made })).toMatchObject(same);
    expect(await client.tables.difference(TABLE, { from: made, to: then })).toMatchObject({
      rows: [{ change: 'changed', before: ['2', 'Ulysses'], after: ['2', 'Ulyses'] }, {}, {}],
    });

    expect((await gex('preview', TABLE, '--at', String(then))).stdout).toContain('Emma');
    const folder = await mkdtemp(join(tmpdir(), 'versions-'));
    onTestFinished(async () => await rm(folder, { recursive: true, force: true }));
    await client.tables.addColumn(TABLE, { name: 'price' });
    await gex('export', TABLE, join(folder, 'then.csv'), '--at', String(then));
    await gex('export', TABLE, join(folder, 'now.csv'));
    expect(await readFile(join(folder, 'then.csv'), 'utf8')).toBe('"id","title"\n"1","Emma"\n"2","Ulyses"\n');
    expect(await readFile(join(folder, 'now.csv'), 'utf8')).toContain('"3","Dubliners",""\n');
    expect(await client.tables.count(TABLE, { at: String(then), search: 'emma' })).toBe(1);
    const data = await world.call('GET', `tables/${TABLE}/data?at=${then}`);
    expect(data.text).toBe('"id","title"\n"1","Emma"\n"2","Ulyses"\n');

    const restored = await gex('restore', TABLE, String(then));
    expect(restored.stdout).toBe(`${TABLE} is as at version ${then}: 2 rows\n`);
    expect(await world.rows(TABLE)).toEqual(['"1","Emma"', '"2","Ulyses"']);
    expect(await client.tables.detail(TABLE)).toMatchObject({ rowsCount: 2, columns: ['id', 'title'] });
    expect(await client.tables.versions(TABLE, { limit: 1 })).toMatchObject([
      { change: `set to version ${then}`, rowsCount: 2, droppedColumns: ['price'], runId: null },
    ]);
    // Nine commands start, one after the other.
  }, 240_000);

  test('a load tells its configuration, where the token is not that of a run; hostile names stay what they are', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'versions-'));
    const service = await startService({ dir, tables: 'lake' });
    onTestFinished(async () => {
      await service.stop();
      await rm(dir, { recursive: true, force: true });
    });
    const client = new StorageClient({ url: service.addresses.url, token: service.token, runId: '12.34' });
    onTestFinished(() => client.close());
    await client.buckets.create({ name: 'main', stage: 'in' });
    const { id: dataFileId } = await client.files.upload(bytesBody(Buffer.from('id\n1\n')), {
      name: 'a.csv',
    });
    const origin = { component: 'my"comp', configuration: `'); DROP TABLE x; --`, row: 'ř\u{1F600}' };
    await client.tables.create('in.c-main', { name: 't', dataFileId, origin });
    expect(await client.tables.versions('in.c-main.t', { runId: '12.34' })).toMatchObject([
      {
        runId: '12.34',
        component: origin.component,
        configuration: origin.configuration,
        configurationRow: origin.row,
        configurationVersion: null,
      },
    ]);
    expect(await client.tables.versions('in.c-main.t', { runId: '12' })).toEqual([]);
    for (const configuration of ['', 'a\nb', 'a\0b', 'x'.repeat(256)])
      await expect(
        client.tables.load('in.c-main.t', { dataFileId, origin: { component: 'c', configuration } }),
      ).rejects.toMatchObject({ code: 'storage.refused' });
    const lone = '\ud800';
    await client.tables.load('in.c-main.t', { dataFileId, origin: { component: 'c', configuration: lone } });
    expect(await client.tables.versions('in.c-main.t', { limit: 1 })).toMatchObject([
      { configuration: '\ufffd' },
    ]);
  });

  test('a typed table is exported as Parquet as it was, and asked in SQL by its values', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'versions-'));
    const service = await startService({ dir, tables: 'lake' });
    onTestFinished(async () => {
      await service.stop();
      await rm(dir, { recursive: true, force: true });
    });
    const client = clientOf(service);
    const table = 'in.c-main.typed';
    await service.call('POST', 'buckets', { stage: 'in', name: 'main' });
    await client.run('POST', 'buckets/in.c-main/tables-definition', {
      name: 'typed',
      primaryKeysNames: ['id'],
      columns: [
        { name: 'id', basetype: 'INTEGER' },
        { name: 'price', basetype: 'INTEGER' },
        { name: 'at', basetype: 'TIMESTAMP' },
      ],
    });
    const load = async (content: string): Promise<void> => {
      const { id } = await client.upload(content);
      const job = await client.run('POST', `tables/${table}/import-async`, {
        dataFileId: id,
        incremental: '1',
      });
      expect(job.error).toBeUndefined();
    };
    await load('id,price,at\n1,7,2024-01-31T23:30:00Z\n2,,\n');
    const { body: history } = await service.call('GET', `tables/${table}/versions`);
    const [first] = history as { version: number }[];
    await client.run('PUT', `tables/${table}/columns/price/definition`, { basetype: 'FLOAT' });
    await load('id,price,at\n1,7.50,2024-02-01T00:00:00Z\n');

    const asked = await service.call('POST', 'sql', {
      query: 'SELECT sum(price) AS p, max("at") AS t FROM "in.c-main".typed',
    });
    expect(asked.body).toMatchObject({
      columns: [{ type: 'DOUBLE' }, { type: 'TIMESTAMP WITH TIME ZONE' }],
      rows: [['7.5', '2024-02-01 00:00:00+00']],
    });
    const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
    onTestFinished(() => duckdb.closeSync());
    const parquet = async (at?: number): Promise<unknown[][]> => {
      const job = await client.run('POST', `tables/${table}/export-async`, {
        fileType: 'parquet',
        ...(at === undefined ? {} : { at: String(at) }),
      });
      const { id } = (job.results as { file: { id: number } }).file;
      const { body } = await client.call<FileBody>('GET', `files/${id}?federationToken=1`);
      const [slice = Buffer.of()] = await readSlices(body);
      const file = join(dir, `${at ?? 'now'}.parquet`);
      await writeFile(file, slice);
      const rows = await duckdb.runAndReadAll(
        `SELECT id, price, typeof(price), CAST(epoch("at") AS BIGINT) FROM '${file}' ORDER BY id`,
      );
      return rows.getRowsJson();
    };
    // The definition of now is that of all versions.
    expect(await parquet(first?.version)).toEqual([
      ['1', 7, 'DOUBLE', '1706743800'],
      ['2', null, 'DOUBLE', null],
    ]);
    expect(await parquet()).toEqual([
      ['1', 7.5, 'DOUBLE', '1706745600'],
      ['2', null, 'DOUBLE', null],
    ]);
    const { text } = await service.call('GET', `tables/${table}/data-preview`);
    expect(text).toContain('"1","7.50","2024-02-01T00:00:00Z"');
    await client.run('POST', `tables/${table}/restore`, { at: String(first?.version) });
    expect((await service.call('GET', `tables/${table}/data-preview`)).text).toContain('"1","7","2024-01-31');
    // The table is what its definition says again.
    await load('id,price,at\n3,0.25,\n');
    const again = await service.call('POST', 'sql', {
      query: 'SELECT sum(price) AS p FROM "in.c-main".typed',
    });
    expect(again.body).toMatchObject({ columns: [{ type: 'DOUBLE' }], rows: [['7.25']] });
  });

  test('an engine without versions says what to do', async () => {
    const service = await startService({});
    onTestFinished(async () => await service.stop());
    const client = new StorageClient({ url: service.addresses.url, token: service.token });
    onTestFinished(() => client.close());
    await client.buckets.create({ name: 'main', stage: 'in' });
    await client.tables.define('in.c-main', { name: 't', columns: ['id'] });
    const refused = {
      message: expect.stringContaining('keeps no earlier versions of tables; a lake does') as string,
      details: { serviceCode: 'storage.tables.noVersions' },
    };
    await expect(client.tables.versions('in.c-main.t')).rejects.toMatchObject(refused);
    await expect(client.tables.preview('in.c-main.t', { at: '1' })).rejects.toMatchObject(refused);
    await expect(client.tables.restore('in.c-main.t', '1')).rejects.toMatchObject(refused);
  });
});
