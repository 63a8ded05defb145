import { existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openJournal } from '../../../../src/runner/mapping/journal.ts';
import type { StorageClient } from '../../../../src/storage/client/index.ts';
import { textOf } from '../../../storage/client/support.ts';
import { mappingError, ORIGIN, useWorld, writeAll } from './support.ts';

const world = useWorld();
const USERS = 'id,name\n1,Ann\n2,Bo\n';

const valuesOf = async (metadata: ReturnType<StorageClient['tables']['metadata']>, provider = 'system') =>
  Object.fromEntries(
    (await metadata.list())
      .filter((item) => item.provider === provider)
      .map(({ key, value }) => [key, value]),
  );

describe('tables', () => {
  test('a file with a header becomes a table in the default bucket', async () => {
    const out = await world.out({ 'tables/users.csv': USERS });
    expect(await world.push(out)).toEqual({
      tables: [
        {
          source: 'users.csv',
          destination: 'in.c-ex-generic-v2-42.users',
          incremental: false,
          rows: 2,
          wasDone: false,
        },
      ],
      files: [],
    });
    expect(await world.rows('in.c-ex-generic-v2-42.users')).toEqual(['1,Ann', '2,Bo']);
  });

  test('the manifest says where a table goes, by which key, and that it is added to', async () => {
    const bucket = world.bucket();
    const manifest = JSON.stringify({
      destination: `${bucket}.users`,
      incremental: true,
      primary_key: ['id'],
    });
    await world.push(await world.out({ 'tables/x': USERS, 'tables/x.manifest': manifest }));
    await world.push(
      await world.out({ 'tables/x': 'id,name\n2,Bob\n3,Cy\n', 'tables/x.manifest': manifest }),
    );
    expect(await world.rows(`${bucket}.users`)).toEqual(['1,Ann', '2,Bob', '3,Cy']);
    expect((await world.client().tables.detail(`${bucket}.users`)).primaryKey).toEqual(['id']);
  });

  test('a schema makes a typed table, whose columns become wider, and never narrower', async () => {
    const bucket = world.bucket();
    const push = async (rows: string, types: Readonly<Record<string, string>>): Promise<unknown> => {
      const schema = Object.entries(types).map(([name, type]) => ({ name, data_type: { base: { type } } }));
      const manifest = { destination: `${bucket}.typed`, incremental: true, has_header: true, schema };
      const out = { 'tables/x': rows, 'tables/x.manifest': JSON.stringify(manifest) };
      await world.push(await world.out(out));
      const { definition } = await world.client().tables.detail(`${bucket}.typed`);
      return Object.fromEntries(definition?.columns.map(({ name, basetype }) => [name, basetype]) ?? []);
    };
    const before = { id: 'INTEGER', n: 'INTEGER', at: 'DATE', is: 'BOOLEAN' };
    expect(await push('id,n,at,is\n1,2,2024-02-29,true\n', before)).toEqual(before);
    const wide = { id: 'INTEGER', n: 'FLOAT', at: 'TIMESTAMP', is: 'INTEGER' };
    expect(await push('id,n,at,is\n2,2.5,2024-02-29 10:00:00,7\n', wide)).toEqual({ ...wide, is: 'STRING' });
    expect(await push('id,n,at,is\n3,2,,true\n', before)).toEqual({ ...wide, is: 'STRING' });
    expect(await world.rows(`${bucket}.typed`)).toHaveLength(3);
  });

  test('a load that is not incremental replaces the rows', async () => {
    const bucket = world.bucket('out');
    const mapping = { tables: [{ source: 'u.csv', destination: `${bucket}.users` }] };
    await world.push(await world.out({ 'tables/u.csv': USERS }), { mapping });
    await world.push(await world.out({ 'tables/u.csv': 'id,name\n9,Zoe' }), { mapping });
    expect(await world.rows(`${bucket}.users`)).toEqual(['9,Zoe']);
  });

  test('a sliced table is loaded with the columns of its manifest, and a second time into the same table', async () => {
    const bucket = world.bucket();
    const files = {
      'tables/s.csv/b': '2,Bo\n',
      'tables/s.csv/a': '1,Ann\n',
      'tables/s.csv/.hidden': 'never seen',
      'tables/s.csv.manifest': JSON.stringify({
        destination: `${bucket}.sliced`,
        columns: ['id', 'full name'],
        incremental: true,
      }),
    };
    await world.push(await world.out(files), { gzip: true });
    await world.push(await world.out(files), { gzip: true });
    const table = await world.client().tables.detail(`${bucket}.sliced`);
    expect(table.columns).toEqual(['id', 'full_name']);
    expect(await world.rows(table.id)).toEqual(['1,Ann', '1,Ann', '2,Bo', '2,Bo']);
  });

  test.each([
    ['a header only', { 'tables/t.csv': 'id,name\n' }, {}],
    ['a header without a line end', { 'tables/t.csv': 'id,name' }, {}],
    ['no byte, and columns in the manifest', { 'tables/t.csv': '' }, { columns: ['id', 'name'] }],
    ['no slice', { 'tables/t.csv/.keep': '' }, { columns: ['id', 'name'] }],
  ])('a table with %s is loaded, without rows', async (_, files, options) => {
    const bucket = world.bucket();
    const manifest = JSON.stringify({ destination: `${bucket}.empty`, ...options });
    const out = await world.out({ ...files, 'tables/t.csv.manifest': manifest });
    expect((await world.push(out)).tables).toMatchObject([{ rows: 0 }]);
    const { columns, rowsCount } = await world.client().tables.detail(`${bucket}.empty`);
    expect({ columns, rowsCount }).toEqual({ columns: ['id', 'name'], rowsCount: 0 });
  });

  test('a header is skipped when columns are given all the same', async () => {
    const bucket = world.bucket();
    const options = { destination: `${bucket}.t`, columns: ['number', 'person'], has_header: true };
    const out = await world.out({ 'tables/t.csv': USERS, 'tables/t.csv.manifest': JSON.stringify(options) });
    await world.push(out);
    expect((await world.client().tables.detail(`${bucket}.t`)).columns).toEqual(['number', 'person']);
    expect(await world.rows(`${bucket}.t`)).toEqual(['1,Ann', '2,Bo']);
  });

  test.each([
    ['compressed on the way', true, { 'tables/t.csv': USERS }],
    ['compressed already', true, { 'tables/t.csv': gzipSync(USERS) }],
    ['compressed already, by name', false, { 'tables/t.csv.gz': gzipSync(USERS) }],
    ['not compressed, whatever its name says', false, { 'tables/t.csv.gz': USERS }],
    [
      'with other characters between and around the cells',
      true,
      { 'tables/t.csv': "'id';'name'\n'1';'Ann'\n'2';'Bo'\n" },
    ],
  ])('a file that is %s has the same rows', async (name, gzip, files) => {
    const bucket = world.bucket();
    const [source = ''] = Object.keys(files).map((file) => file.replace('tables/', ''));
    const format = name.startsWith('with') ? { delimiter: ';', enclosure: "'" } : {};
    const mapping = { tables: [{ source, destination: `${bucket}.t`, ...format }] };
    await world.push(await world.out(files), { mapping, gzip });
    expect(await world.rows(`${bucket}.t`)).toEqual(['1,Ann', '2,Bo']);
  });

  test('an uploaded file that cannot be deleted after its load is no failure', async () => {
    const bucket = world.bucket();
    const fetch: typeof globalThis.fetch = async (...given) => {
      if (given[1]?.method === 'DELETE') throw new TypeError('fetch failed');
      return await world.fetch(...given);
    };
    const mapping = { tables: [{ source: 't', destination: `${bucket}.t` }] };
    const client = world.client({ fetch });
    const { tables } = await world.push(await world.out({ 'tables/t': USERS }), { mapping, client });
    expect(tables).toMatchObject([{ rows: 2 }]);
    expect(world.logged.findLast((line) => line.startsWith('warning'))).toMatch(
      /^warning: The file \d+ of a push stays in the storage: /,
    );
  });

  test('columns that the table does not have are added, at its end', async () => {
    const bucket = world.bucket();
    const mapping = { tables: [{ source: 't', destination: `${bucket}.t`, incremental: true }] };
    await world.push(await world.out({ 'tables/t': 'id\n1\n' }), { mapping });
    await world.push(await world.out({ 'tables/t': 'a b,id\nx,2\n' }), { mapping });
    expect((await world.client().tables.detail(`${bucket}.t`)).columns).toEqual(['id', 'a_b']);
    expect(await world.rows(`${bucket}.t`)).toEqual(['1,', '2,x']);
  });

  test.each([
    [['id'], ['id', 'name']],
    [['id'], []],
    [[], ['name', 'id']],
    [
      ['id', 'name'],
      ['name', 'id'],
    ],
  ])('the primary key %j gives way to %j', async (before, after) => {
    const bucket = world.bucket();
    const mapping = (primary_key: readonly string[]) => ({
      tables: [{ source: 't', destination: `${bucket}.t`, primary_key, incremental: true }],
    });
    await world.push(await world.out({ 'tables/t': USERS }), { mapping: mapping(before) });
    await world.push(await world.out({ 'tables/t': USERS }), { mapping: mapping(after) });
    const { primaryKey } = await world.client().tables.detail(`${bucket}.t`);
    expect(primaryKey.toSorted()).toEqual(after.toSorted());
  });

  test('a primary key that the rows do not admit is a warning, and the old one stays', async () => {
    const bucket = world.bucket();
    const mapping = (primary_key: readonly string[]) => ({
      tables: [{ source: 't', destination: `${bucket}.t`, primary_key, incremental: true }],
    });
    const out = { 'tables/t': 'id,name\n1,Ann\n2,Ann\n' };
    await world.push(await world.out(out), { mapping: mapping(['id']) });
    await world.push(await world.out(out), { mapping: mapping(['name']) });
    expect((await world.client().tables.detail(`${bucket}.t`)).primaryKey).toEqual(['id']);
    expect(await world.rows(`${bucket}.t`)).toHaveLength(2);
    expect(world.logged.at(-1)).toMatch(
      `warning: The primary key of ${bucket}.t stays (id), for (name) was not taken: The storage job`,
    );
  });

  test('rows are deleted before the load', async () => {
    const bucket = world.bucket();
    const rows = 'id,kind\n1,old\n2,new\n3,odd\n';
    const mapping = (extra: object) => ({
      tables: [{ source: 't', destination: `${bucket}.t`, incremental: true, ...extra }],
    });
    await world.push(await world.out({ 'tables/t': rows }), { mapping: mapping({}) });
    const more = await world.out({ 'tables/t': 'id,kind\n4,new\n' });
    const where_filters = [{ column: 'id', operator: 'ne', values_from_set: [2, 4] }];
    await world.push(more, {
      mapping: mapping({
        delete_where_column: 'kind',
        delete_where_values: ['old'],
        delete_where: [{ where_filters }],
      }),
    });
    expect(await world.rows(`${bucket}.t`)).toEqual(['2,new', '4,new']);
  });

  test('bucket, table and columns are told who made them, and who changed them', async () => {
    const bucket = world.bucket();
    const manifest = JSON.stringify({
      destination: `${bucket}.t`,
      description: 'People',
      metadata: [{ key: 'a', value: 1 }],
      column_metadata: {
        'the name': [{ key: 'KBC.description', value: 'Full' }],
        gone: [{ key: 'x', value: 'y' }],
      },
    });
    const files = { 'tables/t': 'id,the name\n1,Ann\n', 'tables/t.manifest': manifest };
    const origin = { ...ORIGIN, row: 'r1' };
    await world.push(await world.out(files), { origin });
    expect(world.logged).toContain('warning: “t”: metadata of “gone” is left out, which is no column of it.');
    const { tables, buckets } = world.client();
    const created = {
      'KBC.createdBy.component.id': 'ex-generic-v2',
      'KBC.createdBy.configuration.id': '42',
      'KBC.createdBy.configurationRow.id': 'r1',
    };
    expect(await valuesOf(tables.metadata(`${bucket}.t`))).toEqual(created);
    expect(await valuesOf(buckets.metadata(bucket))).toEqual(created);
    expect(await valuesOf(tables.metadata(`${bucket}.t`), 'ex-generic-v2')).toEqual({
      a: '1',
      'KBC.description': 'People',
    });
    expect(await valuesOf(tables.columnMetadata(`${bucket}.t`, 'the_name'), 'ex-generic-v2')).toEqual({
      'KBC.description': 'Full',
    });
    await world.push(await world.out(files), { origin: { ...ORIGIN, branch: '7' } });
    const updated = {
      'KBC.lastUpdatedBy.component.id': 'ex-generic-v2',
      'KBC.lastUpdatedBy.configuration.id': '42',
      'KBC.lastUpdatedBy.branch.id': '7',
    };
    expect(await valuesOf(tables.metadata(`${bucket}.t`))).toEqual({ ...created, ...updated });
    expect(await valuesOf(buckets.metadata(bucket))).toEqual({ ...created, ...updated });
  });

  test('of one push, each is told so', async () => {
    const bucket = world.bucket();
    const tables = ['a', 'b'].map((source) => ({ source, destination: `${bucket}.${source}` }));
    const out = await world.out({ 'tables/a': 'id\n1\n', 'tables/b': 'id\n2\n' });
    const before = world.logged.length;
    await world.push(out, { mapping: { tables } });
    for (const { destination } of tables)
      expect(await valuesOf(world.client().tables.metadata(destination))).toHaveProperty([
        'KBC.createdBy.component.id',
      ]);
    expect(world.logged.slice(before).filter((line) => line.startsWith('warning'))).toEqual([]);
  });

  test('a schema gives columns, types, the key and what is said of them', async () => {
    const bucket = world.bucket();
    const schema = [
      { name: 'id', data_type: { base: { type: 'INTEGER' } }, nullable: false, primary_key: true },
      {
        name: 'name',
        data_type: { base: { type: 'STRING' } },
        description: 'Full',
        metadata: { unit: 'person' },
      },
    ];
    const manifest = JSON.stringify({
      destination: `${bucket}.t`,
      schema,
      table_metadata: { owner: 'shop' },
    });
    await world.push(await world.out({ 'tables/t': '1,Ann\n', 'tables/t.manifest': manifest }));
    const { tables } = world.client();
    const table = await tables.detail(`${bucket}.t`);
    expect(table).toMatchObject({ columns: ['id', 'name'], primaryKey: ['id'], isTyped: true, rowsCount: 1 });
    expect(await valuesOf(tables.metadata(table.id), 'ex-generic-v2')).toEqual({ owner: 'shop' });
    expect(await valuesOf(tables.columnMetadata(table.id, 'name'), 'ex-generic-v2')).toEqual({
      unit: 'person',
      'KBC.description': 'Full',
    });
  });

  test('one source may go to several tables, and several sources to one', async () => {
    const bucket = world.bucket();
    const mapping = {
      tables: [
        { source: 'b', destination: `${bucket}.all`, incremental: true },
        { source: 'a', destination: `${bucket}.all`, incremental: true },
        { source: 'a', destination: `${bucket}.some` },
      ],
    };
    const out = await world.out({ 'tables/b': 'id\nb\n', 'tables/a': 'id\na\n' });
    const { tables } = await world.push(out, { mapping });
    expect(tables.map(({ source, destination }) => `${source} ${destination}`).toSorted()).toEqual([
      `a ${bucket}.all`,
      `a ${bucket}.some`,
      `b ${bucket}.all`,
    ]);
    expect(await world.rows(`${bucket}.all`)).toEqual(['a', 'b']);
    expect(await world.rows(`${bucket}.some`)).toEqual(['a']);
    expect((await world.push(out, { mapping })).tables.map(({ wasDone }) => wasDone)).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('of several sources of one table, the last by its name has the last word', async () => {
    const bucket = world.bucket();
    const names = ['c', 'a', 'b'];
    const mapping = {
      tables: names.map((source) => ({
        source,
        destination: `${bucket}.all`,
        incremental: true,
        primary_key: ['id'],
      })),
    };
    const files = names.map((name) => [`tables/${name}`, `id,from\n1,${name}\n`] as const);
    await world.push(await world.out(Object.fromEntries(files)), { mapping });
    expect(await world.rows(`${bucket}.all`)).toEqual(['1,c']);
  });

  test('four are pushed at a time', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `t${i}`);
    const out = await world.out(Object.fromEntries(names.map((name) => [`files/${name}`, name])));
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    let waiting = 0;
    const fetch: typeof globalThis.fetch = async (...given) => {
      waiting++;
      // The fifth would come in the time that is left.
      if (waiting === 4) setTimeout(open, 50);
      await opened;
      return await world.fetch(...given);
    };
    const pushed = world.push(out, { client: world.client({ fetch }) });
    await opened;
    expect(waiting).toBe(4);
    expect((await pushed).files).toHaveLength(6);
  });

  test('a token that may write into one bucket is enough for a table of it', async () => {
    const bucket = world.bucket();
    const master = world.client();
    await master.buckets.create({ name: bucket.replace('in.c-', '') });
    const { token = '' } = await master.tokens.create({
      description: 'one bucket',
      bucketPermissions: { [bucket]: 'write' },
    });
    const out = { 'tables/t': USERS, 'tables/t.manifest': JSON.stringify({ destination: `${bucket}.t` }) };
    await world.push(await world.out(out), { client: world.client({ token }) });
    await world.push(await world.out(out), { client: world.client({ token }) });
    expect(await world.rows(`${bucket}.t`)).toHaveLength(2);
    const elsewhere = await mappingError(
      world.push(await world.out({ 'tables/t': USERS }), { client: world.client({ token }) }),
    );
    expect(elsewhere.message).toContain("You don't have access to the resource.");
  });

  test('runs that make the same bucket and the same table at one moment get along', async () => {
    const bucket = world.bucket();
    const mapping = {
      tables: [{ source: 't', destination: `${bucket}.t`, incremental: true, primary_key: ['id'] }],
    };
    const headers = await Promise.all([1, 2, 3, 4].map((i) => world.out({ 'tables/t': `id\n${i}\n` })));
    await Promise.all(headers.map((out) => world.push(out, { mapping })));
    expect(await world.rows(`${bucket}.t`)).toEqual(['1', '2', '3', '4']);
    const given = { tables: [{ ...mapping.tables[0], destination: `${bucket}.u`, columns: ['id'] }] };
    const bare = await Promise.all([1, 2, 3, 4].map((i) => world.out({ 'tables/t': `${i}\n` })));
    await Promise.all(bare.map((out) => world.push(out, { mapping: given })));
    expect(await world.rows(`${bucket}.u`)).toEqual(['1', '2', '3', '4']);
  });

  test('nothing in out/, nothing to do', async () => {
    expect(await world.push(await world.out())).toEqual({ tables: [], files: [] });
    expect(await world.push(await world.out({ 'tables/.keep': '', 'state.json': '{}' }))).toEqual({
      tables: [],
      files: [],
    });
  });
});

describe('files', () => {
  test('are stored with the settings of manifest and mapping; their tags are put together', async () => {
    const out = await world.out({
      'files/report.txt': 'all is well',
      'files/report.txt.manifest': JSON.stringify({
        tags: ['a', 'b'],
        is_permanent: true,
        is_encrypted: false,
      }),
      'files/parts/1': 'one, ',
      'files/parts/2': 'two',
    });
    const mapping = { files: [{ source: 'report.txt', tags: ['b', 'c'], is_encrypted: true }] };
    const { files } = await world.push(out, { mapping });
    expect(files.map(({ source }) => source)).toEqual(['parts', 'report.txt']);
    const client = world.client();
    const [parts, report] = await Promise.all(files.map(({ fileId }) => client.files.detail(fileId)));
    expect(report).toMatchObject({
      name: 'report.txt',
      tags: ['a', 'b', 'c'],
      maxAgeDays: null,
      isEncrypted: true,
    });
    expect(parts).toMatchObject({ name: 'parts', isSliced: true, tags: [], maxAgeDays: 15 });
    expect(await textOf(await client.files.read(parts?.id ?? 0))).toBe('one, two');
    expect(await world.push(out, { mapping })).toMatchObject({
      files: files.map(({ fileId }) => ({ fileId, wasDone: true })),
    });
  });
});

describe('a push that fails', () => {
  test('says what is done and what is not, keeps the files, and goes on when it is pushed again', async () => {
    const bucket = world.bucket();
    const out = await world.out({
      'tables/bad': `id,name\n${'1,Ann\n'.repeat(30_000)}2\n`,
      'tables/good': USERS,
    });
    const mapping = {
      tables: ['bad', 'good'].map((source) => ({
        source,
        destination: `${bucket}.${source}`,
        incremental: true,
      })),
    };
    const error = await mappingError(world.push(out, { mapping }));
    expect(error.code).toBe('push.failed');
    expect(error.message).toMatch(
      /^1 of 2 outputs could not be pushed into a folder, 1 is done:\n- “bad” into in\.c-test\d+\.bad: The storage job \d+ \(tableCreate.*\) failed: Load error: .*30002/,
    );
    expect(error.hint).toBe(
      `Nothing is lost: the files stay in ${out}. Push them again with: gex storage push ${out.replace(/\/out$/, '')}`,
    );
    expect(openJournal(out)?.document.status).toBe('pending');
    expect(openJournal(out)?.table('bad').fileId).toBeUndefined();
    writeAll(out, { 'tables/bad': USERS });
    expect(
      (await world.push(out, { mapping })).tables.map(({ source, wasDone }) => [source, wasDone]),
    ).toEqual([
      ['bad', false],
      ['good', true],
    ]);
    expect(await world.rows(`${bucket}.bad`)).toHaveLength(2);
    expect(await world.rows(`${bucket}.good`)).toHaveLength(2);
    expect(existsSync(out)).toBe(true);
  });

  test('a file without a column of its table is refused by the service, whose words are told', async () => {
    const bucket = world.bucket();
    const mapping = { tables: [{ source: 't', destination: `${bucket}.t`, incremental: true }] };
    await world.push(await world.out({ 'tables/t': USERS }), { mapping });
    const error = await mappingError(world.push(await world.out({ 'tables/t': 'id\n3\n' }), { mapping }));
    expect(error.message).toContain('Some columns are missing in the csv file. Missing columns: name.');
    expect(error.details['failed']).toMatchObject([{ serviceCode: 'csvImport.columnsNotMatch' }]);
    expect(await world.rows(`${bucket}.t`)).toHaveLength(2);
  });

  test('the hint names the data folder, also for the output of a row', async () => {
    const out = await world.out({ 'rows/r1/out/tables/t': 'id\n1\n' });
    const client = world.client({ token: '1-1-wrongwrong', retry: { maxRetries: 0 } });
    const row = `${out}/rows/r1/out`;
    const error = await mappingError(world.push(row, { client, origin: { ...ORIGIN, row: 'r1' } }));
    expect(error.hint).toMatch(`gex storage push ${out}`);
    expect(error.message).toContain('Invalid access token');
    expect(error.audience).toBe('user');
  });

  test('when the service cannot be used, the rest is not tried', async () => {
    const names = Array.from({ length: 9 }, (_, i) => `t${i}`);
    const out = await world.out(Object.fromEntries(names.map((name) => [`tables/${name}`, USERS])));
    const client = world.client({ token: '1-1-wrongwrong' });
    const error = await mappingError(world.push(out, { client }));
    expect(error.details['left']).toHaveLength(5);
    expect(error.message).toContain('- not tried: “t4” into in.c-ex-generic-v2-42.t4, “t5”');
  });

  test('one that is ended by its signal rejects with the reason, and can go on', async () => {
    const bucket = world.bucket();
    const mapping = { tables: [{ source: 't', destination: `${bucket}.t`, incremental: true }] };
    const out = await world.out({ 'tables/t': USERS });
    const stop = new AbortController();
    const reason = new Error('enough');
    const client = world.client({ onProgress: () => stop.abort(reason) });
    await expect(world.push(out, { mapping, client, signal: stop.signal })).rejects.toBe(reason);
    await world.push(out, { mapping });
    expect(await world.rows(`${bucket}.t`)).toHaveLength(2);
  });
});
