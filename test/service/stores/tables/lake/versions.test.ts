import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLakeEngine, type LakeEngine } from '../../../../../src/service/stores/tables/lake/engine.ts';
import { exported, load } from '../postgres/support.ts';
import { bytesOf } from '../slices.ts';
import { EXTENSIONS } from './support.ts';
import type { TableVersions } from '../../../../../src/service/stores/tables/engine.ts';

describe.runIf(EXTENSIONS)('versions of tables of a lake', () => {
  let folder: string;
  let engine: LakeEngine;
  let versions: TableVersions;
  const keyed = { bucket: 'in.c-main', table: 'keyed' };
  const plain = { bucket: 'in.c-main', table: 'plain' };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lake-'));
    engine = createLakeEngine({
      place: { kind: 'folder', folder: join(folder, 'lake') },
      workFolder: join(folder, 'work'),
      extensions: EXTENSIONS,
    });
    await engine.open();
    const found = await engine.versions();
    if (found === undefined) throw new Error('A lake has versions.');
    versions = found;
  });
  afterAll(async () => {
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Does work, and returns the versions before and after it. */
  const around = async (
    work: () => Promise<unknown>,
  ): Promise<{ from: number; to: number; limit: number }> => {
    const from = await engine.version();
    await work();
    return { from, to: await engine.version(), limit: 10 };
  };

  test('a history is the list of changes, with the run and the configuration of each', async () => {
    const origin = { run: '7', component: 'api', configuration: 'shop', row: 'orders', version: 3 };
    await load(engine, keyed, 'id,v\n1,a\n2,b\n', { create: { primaryKey: ['id'] }, mark: 'job 1', origin });
    await load(engine, keyed, 'id,v,w\n2,c,x\n3,d,y\n', {
      incremental: true,
      mark: 'job 2',
      origin: { ...origin, run: '8' },
      fence: { jobId: 12, fencing: 1, worker: 'w' },
    });
    await engine.deleteRows(keyed, { where: [{ column: 'id', operator: 'eq', values: ['1'] }] });
    const history = await versions.history(keyed, { limit: 10 });
    expect(history.map(({ time, ...rest }) => ({ ...rest, version: 0, isTime: time <= new Date() }))).toEqual(
      [
        {
          change: 'delete rows',
          rows: 2,
          importedRows: undefined,
          addedColumns: [],
          droppedColumns: [],
          job: undefined,
          origin: {},
          version: 0,
          isTime: true,
        },
        {
          change: 'import',
          rows: 3,
          importedRows: 2,
          addedColumns: ['w'],
          droppedColumns: [],
          job: 12,
          origin: { ...origin, run: '8' },
          version: 0,
          isTime: true,
        },
        {
          change: 'create',
          rows: 2,
          importedRows: 2,
          addedColumns: [],
          droppedColumns: [],
          job: undefined,
          origin,
          version: 0,
          isTime: true,
        },
      ],
    );
    const ofRun = await versions.history(keyed, { limit: 10, run: '8' });
    expect(ofRun.map(({ change }) => change)).toEqual(['import']);
    const [newest] = history;
    expect(await versions.history(keyed, { limit: 1, before: newest?.version })).toHaveLength(1);
    expect(await versions.history({ ...keyed, table: 'other' }, { limit: 10 })).toEqual([]);
    expect(await versions.versionAt(new Date())).toBe(await engine.version());
    for (const { version, time } of history) expect(await versions.versionAt(time)).toBe(version);
    expect(await versions.versionAt(new Date('2020-01-01'))).toBeUndefined();
  });

  test('rows that differ are compared by the key, with columns of both versions', async () => {
    const compared = { bucket: 'in.c-main', table: 'compared' };
    await load(engine, compared, 'id,v,w\n1,a,\n2,b,\n3,c,\n', { create: { primaryKey: ['id'] } });
    const made = await around(async () => {
      await load(engine, compared, 'id,v,w\n2,B,\n3,c,\n4,\uFEFFd,\n', { incremental: true });
      await engine.deleteRows(compared, { where: [{ column: 'id', operator: 'eq', values: ['1'] }] });
      await engine.dropColumn(compared, 'w');
      await engine.addColumn(compared, 'z');
    });
    expect(await versions.difference(compared, made)).toEqual({
      columns: ['id', 'v', 'z', 'w'],
      primaryKey: ['id'],
      added: 1,
      removed: 1,
      changed: 1,
      rows: [
        { before: ['2', 'b', '', ''], after: ['2', 'B', '', ''] },
        { after: ['4', '\uFEFFd', '', ''] },
        { before: ['1', 'a', '', ''] },
      ],
    });
    // A full load of the same rows changes none; files that were joined neither.
    const again = await around(
      async () => await load(engine, compared, 'id,v,z\n2,B,\n3,c,\n4,\uFEFFd,\n', {}),
    );
    expect(await versions.difference(compared, again)).toMatchObject({
      added: 0,
      removed: 0,
      changed: 0,
      rows: [],
    });
    expect(await versions.difference(compared, { ...again, limit: 0 })).toMatchObject({ rows: [] });
  });

  test('without a key as many rows are added and removed as one version has more', async () => {
    const made = await around(async () => {
      await load(engine, plain, 'a,b\n1,x\n1,x\n2,y\n', { create: { primaryKey: [] } });
    });
    expect(await versions.difference(plain, made)).toMatchObject({ added: 3, removed: 0, changed: 0 });
    const replaced = await around(async () => await load(engine, plain, 'a,b\n1,x\n3,z\n', {}));
    expect(await versions.difference(plain, replaced)).toMatchObject({
      primaryKey: [],
      added: 1,
      removed: 2,
      rows: [{ after: ['3', 'z'] }, { before: ['1', 'x'] }, { before: ['2', 'y'] }],
    });
    // Made again, its rows are numbered from 0 on as before.
    const remade = await around(async () => {
      await engine.drop(plain);
      await load(engine, plain, 'a,b\n9,q\n3,z\n', { create: { primaryKey: [] } });
    });
    expect(await versions.difference(plain, remade)).toMatchObject({
      added: 1,
      removed: 1,
      rows: [{ after: ['9', 'q'] }, { before: ['1', 'x'] }],
    });
  });

  test('a table is read as it was, and set back to it with columns, key, order and change times', async () => {
    const table = { bucket: 'in.c-main', table: 'back' };
    await load(engine, table, 'id,ID2,v\n2,p,b\n1,q,a\n', { create: { primaryKey: ['id'] } });
    const version = await engine.version();
    const query = { includeInternalTimestamp: true };
    const before = await exported(engine, table, query);
    await engine.setPrimaryKey(table, []);
    await engine.dropColumn(table, 'ID2');
    await load(engine, table, 'id,v,more\n9,z,1\n', { importedAt: new Date('2026-03-03'), mark: 'job 9' });
    const then = versions.at(version);
    expect(await then.preview(table, {})).toEqual({
      columns: ['id', 'ID2', 'v'],
      rows: [
        ['2', 'p', 'b'],
        ['1', 'q', 'a'],
      ],
    });
    expect(await then.count(table, {})).toBe(2);
    const outcome = await versions.restore(table, version, { origin: { run: '9' } });
    expect(outcome).toMatchObject({ rows: 2, primaryKey: ['id'] });
    expect(outcome.columns.toSorted()).toEqual(['ID2', 'id', 'v']);
    expect(await exported(engine, table, { ...query, columns: ['id', 'ID2', 'v'] })).toBe(before);
    // A job that was the last import is not done again.
    expect(await engine.describe(table)).toMatchObject({ lastImport: { mark: 'job 9' } });
    const [last] = await versions.history(table, { limit: 1 });
    expect(last).toMatchObject({
      change: `set to version ${version}`,
      rows: 2,
      addedColumns: ['ID2'],
      droppedColumns: ['more'],
      origin: { run: '9' },
    });
    // So is one without rows.
    await engine.deleteRows(table, {});
    const empty = await engine.version();
    await versions.restore(table, version, {});
    await versions.restore(table, empty, {});
    expect(await engine.describe(table)).toMatchObject({ rows: 0, bytes: 0 });
  });

  test('a version is read, compared and restored as its columns were stored', async () => {
    const table = { bucket: 'in.c-main', table: 'typed' };
    const query = { includeInternalTimestamp: true };
    await load(engine, table, 'id,n,rowid,v\n2,01,5,x\n1,,6,y\n', { create: { primaryKey: ['id'] } });
    const texts = await engine.version();
    const before = await exported(engine, table, query);
    const types = new Map([
      ['n', 'bigint' as const],
      ['rowid', 'bigint' as const],
    ]);
    const typed = await around(
      async () =>
        await load(engine, table, 'id,n,rowid,v,at\n1,7,6,y,\n3,8,9,z,\n', { incremental: true, types }),
    );
    expect(await engine.describe(table)).toMatchObject({ types, columns: ['id', 'n', 'rowid', 'v', 'at'] });
    expect(await exported(engine, table)).toBe(
      '"2","01","5","x",""\n"1","7","6","y",""\n"3","8","9","z",""\n',
    );
    // A type is no change of rows.
    expect(await versions.difference(table, typed)).toMatchObject({
      added: 1,
      removed: 0,
      changed: 1,
      rows: [
        { before: ['1', '', '6', 'y', ''], after: ['1', '7', '6', 'y', ''] },
        { after: ['3', '8', '9', 'z', ''] },
      ],
    });
    const wider = await around(
      async () =>
        await load(engine, table, 'id,n,rowid,v,at\n4,1.5,,,\n', {
          incremental: true,
          types: new Map([...types, ['n', 'decimal' as const]]),
        }),
    );
    expect(await versions.difference(table, wider)).toMatchObject({ added: 1, removed: 0, changed: 0 });
    expect(await versions.at(texts).describe(table)).not.toHaveProperty('types');
    expect(await versions.at(typed.to).describe(table)).toMatchObject({ types });
    let read = '';
    await engine.at(texts).export(table, query, { gzip: false, targetBytes: 1e6 }, async (slice) => {
      read += String(await bytesOf(slice));
    });
    expect(read).toBe(before);
    expect(
      await versions.at(typed.to).count(table, { where: [{ column: 'n', operator: 'eq', values: ['01'] }] }),
    ).toBe(1);

    const outcome = await versions.restore(table, texts, {});
    expect(outcome).toEqual({ columns: ['id', 'n', 'rowid', 'v'], primaryKey: ['id'], rows: 2, bytes: 16 });
    expect(await exported(engine, table, query)).toBe(before);
    expect(await versions.restore(table, typed.to, {})).toMatchObject({ types, rows: 3 });
    expect(await exported(engine, table)).toBe(
      '"2","01","5","x",""\n"1","7","6","y",""\n"3","8","9","z",""\n',
    );
    // Stored alike, it stays the table that it is.
    await load(engine, table, 'id,n,rowid,v,at\n9,9,9,,\n', { types });
    await versions.restore(table, typed.to, {});
    expect(await engine.describe(table)).toMatchObject({ types, rows: 3, primaryKey: ['id'] });
  });

  test('a version that is not there is told with those that are', async () => {
    const code = 'storage.tables.versionNotFound';
    const known = { bucket: 'in.c-main', table: 'known' };
    await load(engine, known, 'a\n1\n', { create: { primaryKey: [] } });
    await expect(versions.at(9999).preview(known, {})).rejects.toMatchObject({ code });
    await expect(versions.at(1).count(known, {})).rejects.toMatchObject({ code });
    await expect(versions.restore(known, 9999, {})).rejects.toMatchObject({ code });
    await expect(
      versions.difference(known, { from: 9999, to: await engine.version(), limit: 1 }),
    ).rejects.toMatchObject({
      code,
      message: expect.stringMatching(
        /^There is no version 9999 of the tables: those that are kept are from 0 to /,
      ) as string,
    });
  });
});
