import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JsonNumber, parseExact } from '../../../src/lib/json/index.ts';
import {
  bytesBody,
  fileBody,
  type Configuration,
  type OnProgress,
  type StorageClient,
  type StorageClientOptions,
  type TransferProgress,
} from '../../../src/storage/client/index.ts';
import { bytesOf, failureOf, noise, temporaryFolder, textOf } from './support.ts';

export interface Service {
  /** True when its object store can be asked for encryption; files of one that cannot are never marked so. */
  readonly hasEncryption: boolean;
  client(options?: Partial<StorageClientOptions>): StorageClient;
  close(): Promise<void>;
}

const COMPONENT = 'ex-generic-v2';
const MIB = 1024 * 1024;
const USERS = 'id,name\n1,"Ann ""A"""\n2,Bo\n';

/** The name under which a download to that path is kept while it isn't complete. */
async function partOf(storage: StorageClient, id: number, target: string): Promise<string> {
  await expect(storage.files.downloadTo(id, target, { onProgress: end })).rejects.toThrow('ended');
  const [name = ''] = await readdir(path.dirname(target));
  return path.join(path.dirname(target), name);
}

function end(): void {
  throw new Error('ended');
}

/** Tests the client over any service and object store. */
export function describeStorageClient(name: string, start: () => Promise<Service>): void {
  describe(name, () => {
    let service: Service;
    let storage: StorageClient;
    beforeAll(async () => {
      service = await start();
      storage = service.client();
    });
    afterAll(async () => {
      storage.close();
      await service.close();
    });
    let counter = 0;
    const bucket = async () => (await storage.buckets.create({ name: `bucket${++counter}` })).id;
    const upload = async (text: string) =>
      (await storage.files.upload(bytesBody(text), { name: 'users.csv' })).id;
    const table = async (text = USERS) =>
      (
        await storage.tables.create(await bucket(), {
          name: 'users',
          dataFileId: await upload(text),
          primaryKey: ['id'],
        })
      ).id;

    const make = async (fields = {}): Promise<Configuration> =>
      await storage.configurations(COMPONENT).create({ name: 'test', ...fields });

    describe('files', () => {
      test.each([
        ['empty', Buffer.alloc(0)],
        ['small', Buffer.from('some text')],
        ['of exactly two parts', noise(10 * MIB)],
        ['of several parts', noise(11 * MIB + 7)],
      ])('a file that is %s comes back byte for byte', async (_, content) => {
        const client = service.client({ s3: { partBytes: 5 * MIB } });
        const progress: TransferProgress[] = [];
        const file = await client.files.upload(bytesBody(content), {
          name: 'data.bin',
          tags: ['a', 'b/c'],
          onProgress: (each) => progress.push(each),
        });
        expect(progress.at(-1)).toMatchObject({
          direction: 'upload',
          bytes: content.length,
          totalBytes: content.length,
        });
        expect(file).toMatchObject({
          name: 'data.bin',
          tags: ['a', 'b/c'],
          isSliced: false,
          isEncrypted: service.hasEncryption,
        });
        const back = await bytesOf(await client.files.read(file.id));
        expect(back.equals(content)).toBe(true);
        client.close();
      });

      test('a file of the disk is compressed on the way, and read again without compression', async () => {
        const folder = await temporaryFolder();
        await writeFile(path.join(folder, 'a.csv'), USERS.repeat(1000));
        const file = await storage.files.upload(await fileBody(path.join(folder, 'a.csv')), {
          name: 'a.csv',
          gzip: true,
        });
        expect(file.name).toBe('a.csv.gz');
        expect(gunzipSync(await bytesOf(await storage.files.read(file.id))).toString()).toBe(
          USERS.repeat(1000),
        );
        expect(await textOf(await storage.files.read(file.id, { gunzip: true }))).toBe(USERS.repeat(1000));
      });

      test('a file whose size is not known before goes in parts, too', async () => {
        const content = noise(6 * MIB);
        const client = service.client({ s3: { partBytes: 5 * MIB, concurrency: 2 } });
        const file = await client.files.upload(bytesBody(content), { name: 'a.bin', gzip: true });
        const back = await bytesOf(await client.files.read(file.id, { gunzip: true }));
        expect(back.equals(content)).toBe(true);
        client.close();
      });

      test('a sliced file is its slices, one behind the other', async () => {
        const slices = ['1,a\n', '', '2,b\n', '3,c\n'];
        const file = await storage.files.uploadSliced(
          slices.map((text, i) => ({ name: `part${9 - i}`, body: bytesBody(text) })),
          { name: 'sliced.csv' },
        );
        expect(file.isSliced).toBe(true);
        expect(await textOf(await storage.files.read(file.id))).toBe('1,a\n2,b\n3,c\n');
        expect(await textOf(await storage.files.read(file.id, { header: ['id', 'a "b"'] }))).toBe(
          '"id","a ""b"""\n1,a\n2,b\n3,c\n',
        );
        expect(await storage.files.slices(file.id)).toEqual(['part9', 'part8', 'part7', 'part6']);
        expect(await textOf(await storage.files.readSlice(file.id, 'part7'))).toBe('2,b\n');
      });

      test('compressed slices are each uncompressed', async () => {
        const file = await storage.files.uploadSliced(
          ['a', '', 'b'].map((text, i) => ({ name: `${i}`, body: bytesBody(text) })),
          { name: 'sliced.csv', gzip: true },
        );
        expect(await textOf(await storage.files.read(file.id, { gunzip: true }))).toBe('ab');
        const stored = await bytesOf(await storage.files.read(file.id));
        expect(stored.equals(Buffer.concat(['a', '', 'b'].map((text) => gzipSync(text, { level: 6 }))))).toBe(
          true,
        );
      });

      test('a part of a file is read by its positions', async () => {
        const id = await upload('0123456789');
        expect(await textOf(await storage.files.read(id, { start: 3 }))).toBe('3456789');
        expect(await textOf(await storage.files.read(id, { start: 2, end: 4 }))).toBe('234');
        expect(await textOf(await storage.files.read(id, { start: 10 }))).toBe('');
        const error = await failureOf(bytesOf(await storage.files.read(id, { start: 3, gunzip: true })));
        expect(error.code).toBe('storage.refused');
      });

      test('a download goes on where the one before was ended', async () => {
        const target = path.join(await temporaryFolder(), 'a.txt');
        const id = await upload('0123456789');
        const part = await partOf(storage, id, target);
        const positions: number[] = [];
        const onProgress: OnProgress = ({ bytes }) => positions.push(bytes);
        for (const [earlier, arrived] of [
          ['', 10],
          ['01234', 6],
          ['0123456789', 1],
          ['0123456789 and more', 10],
        ] as const) {
          await writeFile(part, earlier);
          expect(await storage.files.downloadTo(id, target, { onProgress })).toEqual({ bytes: 10 });
          expect(await readFile(target, 'utf8')).toBe('0123456789');
          expect(positions.pop()).toBe(arrived);
        }
        expect(await readdir(path.dirname(target))).toEqual(['a.txt']);
      });

      test('the importer takes a file without an object store', async () => {
        const content = noise(3 * MIB);
        const seen: number[] = [];
        const file = await storage.files.uploadByImporter(bytesBody(content), {
          name: 'naïve "file".bin',
          tags: ['one', 'two'],
          onProgress: ({ bytes }) => seen.push(bytes),
        });
        expect(file).toMatchObject({
          name: 'naïve "file".bin',
          tags: ['one', 'two'],
          sizeBytes: content.length,
        });
        expect(seen.at(-1)).toBe(content.length);
        expect((await bytesOf(await storage.files.read(file.id))).equals(content)).toBe(true);
      });

      test('files are found by tag, tagged, and deleted', async () => {
        const id = await upload('x');
        await storage.files.addTag(id, `tag/${id}`);
        expect((await storage.files.list({ tags: [`tag/${id}`] })).map((file) => file.id)).toEqual([id]);
        await storage.files.deleteTag(id, `tag/${id}`);
        expect((await storage.files.detail(id)).tags).toEqual([]);
        await storage.files.delete(id);
        expect((await failureOf(storage.files.detail(id))).code).toBe('storage.notFound');
      });

      test('a file whose content was never sent says so', async () => {
        const { id } = await storage.files.prepare({ name: 'later.csv', federationToken: true });
        const error = await failureOf(bytesOf(await storage.files.read(id)));
        expect(error).toMatchObject({ code: 'storage.notFound' });
        expect(error.message).toContain('there is no content');
      });
    });

    describe('tables', () => {
      test('a table is made from a file, shown, loaded again and read', async () => {
        const id = await table();
        expect(await storage.tables.detail(id)).toMatchObject({
          columns: ['id', 'name'],
          primaryKey: ['id'],
        });
        expect(await storage.tables.preview(id, { orderBy: [{ column: 'id' }] })).toEqual({
          columns: ['id', 'name'],
          rows: [
            ['1', 'Ann "A"'],
            ['2', 'Bo'],
          ],
          cut: [],
        });
        expect(await storage.tables.preview(id, { offset: 1, orderBy: [{ column: 'id' }] })).toMatchObject({
          rows: [['2', 'Bo']],
        });
        expect(await storage.tables.preview(id, { search: 'ANN' })).toMatchObject({
          rows: [['1', 'Ann "A"']],
        });
        const result = await storage.tables.load(id, {
          dataFileId: await upload('id,name\n2,Bob\n3,Cy\n'),
          incremental: true,
        });
        expect(result).toMatchObject({ importedColumns: ['id', 'name'], totalRowsCount: 3 });
        const orderBy = [{ column: 'id' }] as const;
        expect(await textOf(await storage.tables.read(id, { orderBy }))).toBe(
          '"id","name"\n"1","Ann ""A"""\n"2","Bob"\n"3","Cy"\n',
        );
      });

      test('what is in the columns of a table', async () => {
        const id = await table();
        expect(await storage.tables.lastProfile(id)).toBeUndefined();
        const profile = await storage.tables.profile(id, { columns: ['id'] });
        expect(profile).toMatchObject({ tableId: id, rowsLooked: 2, isWhole: true, isCurrent: true });
        expect(profile.columns).toEqual([
          expect.objectContaining({ name: 'id', isNumeric: true, smallest: '1', largest: '2' }),
        ]);
        await storage.tables.load(id, { dataFileId: await upload('id,name\n7,Bob\n') });
        expect(await storage.tables.lastProfile(id)).toEqual({ ...profile, isCurrent: false });
        expect((await failureOf(storage.tables.profile(id, { columns: ['no'] }))).serviceCode).toBe(
          'storage.tables.nonExistingColumns',
        );
      });

      test('rows are exported into a file, with or without a header, filtered', async () => {
        const id = await table();
        const target = path.join(await temporaryFolder(), 'out.csv');
        await storage.tables.exportTo(id, target, {
          columns: ['name'],
          whereFilters: [{ column: 'id', values: ['2'] }],
        });
        expect(await readFile(target, 'utf8')).toBe('"name"\n"Bo"\n');
        expect(
          await textOf(await storage.tables.read(id, { header: false, limit: 1, columns: ['id'] })),
        ).toMatch(/^"[12]"\n$/);
        const { fileId, isCached } = await storage.tables.export(id);
        expect(isCached).toBe(false);
        expect(await storage.tables.export(id)).toEqual({ fileId, isCached: true });
        const file = await storage.files.detail(fileId);
        expect(file.tags).toContain('table-export');
        expect(file.isEncrypted).toBe(service.hasEncryption);
      });

      test('a sliced file without a header is loaded by column names', async () => {
        const id = await storage.tables.define(await bucket(), { name: 'empty', columns: ['id', 'name'] });
        const { id: dataFileId } = await storage.files.uploadSliced(
          ['1,a\n', '2,b\n'].map((text, i) => ({ name: `s${i}`, body: bytesBody(text) })),
          { name: 'rows.csv', gzip: true },
        );
        const { totalRowsCount } = await storage.tables.load(id.id, { dataFileId, columns: ['id', 'name'] });
        expect(totalRowsCount).toBe(2);
      });

      test('columns, keys and rows come and go', async () => {
        const id = await table();
        await storage.tables.addColumn(id, { name: 'town' });
        await storage.tables.deletePrimaryKey(id);
        await storage.tables.setPrimaryKey(id, ['id', 'name']);
        expect(await storage.tables.detail(id)).toMatchObject({
          columns: ['id', 'name', 'town'],
          primaryKey: ['id', 'name'],
        });
        await storage.tables.deleteColumn(id, 'town');
        const whereFilters = [{ column: 'id', values: ['1'] }];
        expect(await storage.tables.deleteRows(id, { whereFilters })).toMatchObject({ deletedRows: 1 });
        expect((await failureOf(storage.tables.deleteRows(id, {}))).serviceCode).toBe(
          'storage.tables.validation.unintendedTruncation',
        );
        expect((await storage.tables.update(id, { displayName: 'people' })).displayName).toBe('people');
        await storage.tables.delete(id);
        expect(await storage.tables.find(id)).toBeUndefined();
      });

      test('an import that fails says why, and the job is at hand', async () => {
        const id = await table();
        const error = await failureOf(storage.tables.load(id, { dataFileId: await upload('other\n1\n') }));
        expect(error).toMatchObject({ code: 'storage.jobFailed', serviceCode: 'csvImport.columnsNotMatch' });
        expect(error.message).toContain('Some columns are missing in the csv file.');
        const job = await storage.jobs.detail(Number(error.details['jobId']));
        expect(job.status).toBe('error');
      });

      test('an import is found by the file that it reads', async () => {
        const id = await table();
        const dataFileId = await upload(USERS);
        expect(await storage.jobs.findByFile(dataFileId)).toBeUndefined();
        const job = await storage.tables.startLoad(id, { dataFileId });
        expect((await storage.jobs.findByFile(dataFileId))?.id).toBe(job.id);
        expect((await storage.jobs.wait(job)).status).toBe('success');
        expect((await storage.jobs.list({ limit: 1 }))[0]?.id).toBe(job.id);
      });

      test('tables and their columns carry metadata', async () => {
        const id = await table();
        await storage.tables.metadata(id).set([{ key: 'k', value: 'v' }], 'test');
        await storage.tables.columnMetadata(id, 'name').set([{ key: 'c', value: 'w' }], 'test');
        expect(await storage.tables.metadata(id).list()).toMatchObject([
          { key: 'k', value: 'v', provider: 'test' },
        ]);
        const [item] = await storage.tables.columnMetadata(id, 'name').list();
        expect(item).toMatchObject({ key: 'c', value: 'w' });
        await storage.tables.columnMetadata(id, 'name').delete(item?.id ?? '');
        expect(await storage.tables.columnMetadata(id, 'name').list()).toEqual([]);
      });
    });

    describe('buckets', () => {
      test('are made, listed, changed and deleted', async () => {
        const id = await bucket();
        expect((await storage.buckets.list()).map((each) => each.id)).toContain(id);
        expect((await storage.buckets.update(id, { displayName: `shown-${counter}` })).displayName).toBe(
          `shown-${counter}`,
        );
        await storage.buckets.metadata(id).set([{ key: 'k', value: 'v' }], 'test');
        expect(await storage.buckets.metadata(id).list()).toHaveLength(1);
        await storage.buckets.delete(id);
        expect(await storage.buckets.find(id)).toBeUndefined();
      });

      test('with tables are deleted by force only', async () => {
        const id = (await table()).split('.').slice(0, 2).join('.');
        expect((await storage.buckets.detail(id)).tables?.map(({ name }) => name)).toEqual(['users']);
        expect((await storage.tables.list({ bucket: id })).map(({ name }) => name)).toEqual(['users']);
        expect((await failureOf(storage.buckets.delete(id))).message).toContain('Only empty buckets');
        await storage.buckets.delete(id, { force: true });
        expect(await storage.buckets.find(id)).toBeUndefined();
      });
    });

    describe('configurations', () => {
      test('keep their content exactly', async () => {
        const content = parseExact('{"a":{},"b":[],"n":1.0,"big":12345678901234567890,"10":1,"9":null}');
        const { id } = await make({ configuration: content });
        const { configuration } = await storage.configurations(COMPONENT).detail(id);
        expect(configuration).toEqual(content);
        const big = configuration instanceof Map ? (configuration.get('big') as unknown) : undefined;
        expect(big).toEqual(new JsonNumber('12345678901234567890'));
      });

      test('versions, rollback, copy, restore, deletion', async () => {
        const configurations = storage.configurations(COMPONENT);
        const { id } = await make({ configuration: { a: 1 } });
        await configurations.update(id, { configuration: { a: 2 }, changeDescription: 'two' });
        expect((await configurations.versions(id)).map(({ version }) => version)).toEqual([2, 1]);
        expect((await configurations.version(id, 1)).configuration).toEqual({ a: 1 });
        expect(await configurations.rollback(id, 1)).toEqual({ version: '3' });
        const copy = await configurations.copy(id, 2, { name: 'copy' });
        expect((await configurations.detail(copy.id)).configuration).toEqual({ a: 2 });
        await configurations.delete(id);
        expect(await configurations.find(id)).toBeUndefined();
        expect((await configurations.list({ isDeleted: true })).map((each) => each.id)).toContain(id);
        expect((await configurations.restore(id)).version).toBe(5);
      });

      test('a state makes no version', async () => {
        const configurations = storage.configurations(COMPONENT);
        const { id } = await make();
        const { version, state } = await configurations.updateState(id, { last: 7 });
        expect({ version, state }).toEqual({ version: 1, state: { last: 7 } });
      });

      test('rows have operations of their own', async () => {
        const { id } = await make();
        const configurations = storage.configurations(COMPONENT);
        const rows = configurations.rows(id);
        const first = await rows.create({ rowId: 'b', name: 'first', configuration: { x: 1 } });
        await rows.create({ rowId: 'a', name: 'second' });
        await configurations.update(id, { rowsSortOrder: ['b', 'a'] });
        expect((await rows.list()).map((row) => row.id)).toEqual(['b', 'a']);
        await rows.update(first.id, { configuration: { x: 2 } });
        await rows.updateState('b', { seen: true });
        expect(await rows.detail('b')).toMatchObject({
          version: 2,
          state: { seen: true },
          configuration: { x: 2 },
        });
        expect((await rows.versions('b')).map(({ version }) => version)).toEqual([2, 1]);
        expect((await rows.version('b', 1)).configuration).toEqual({ x: 1 });
        expect((await rows.rollback('b', 1)).configuration).toEqual({ x: 1 });
        expect((await rows.copy('b', 2)).configuration).toEqual({ x: 2 });
        await rows.delete('a', { changeDescription: 'no more' });
        expect((await configurations.detail(id)).changeDescription).toBe('no more');
      });

      test('carry metadata', async () => {
        const { id } = await make();
        const metadata = storage.configurations(COMPONENT).metadata(id);
        await metadata.set([{ key: 'folder', value: 'mine' }]);
        expect(await metadata.list()).toMatchObject([{ key: 'folder', value: 'mine' }]);
      });

      test('live in branches, too', async () => {
        const { id } = await make({ configuration: { in: 'main' } });
        const branch = await storage.branches.create({ name: `branch ${++counter}` });
        const inBranch = service.client({ branch: branch.id });
        await inBranch.configurations(COMPONENT).update(id, { configuration: { in: 'branch' } });
        expect((await storage.configurations(COMPONENT).detail(id)).configuration).toEqual({ in: 'main' });
        await inBranch.configurations(COMPONENT).resetToDefault(id);
        expect((await inBranch.configurations(COMPONENT).detail(id)).configuration).toEqual({ in: 'main' });
        await inBranch.branches.metadata.set([{ key: 'k', value: 'v' }]);
        expect(await inBranch.branches.metadata.list()).toHaveLength(1);
        expect((await storage.branches.update(branch.id, { name: `renamed ${counter}` })).name).toBe(
          `renamed ${counter}`,
        );
        await storage.branches.delete(branch.id);
        expect((await storage.branches.list()).map((each) => each.id)).not.toContain(branch.id);
        inBranch.close();
      });
    });

    describe('the rest', () => {
      test('index and components need no more than an address', async () => {
        const index = await storage.index({ exclude: ['components'] });
        expect(index.api).toBe('storage');
        expect(index.services.map(({ id }) => id)).toContain('import');
        expect((await storage.components()).map(({ id }) => id)).toContain(COMPONENT);
        expect((await storage.component(COMPONENT)).id).toBe(COMPONENT);
      });

      test('tokens are made, limited, refreshed and deleted', async () => {
        const id = await bucket();
        const made = await storage.tokens.create({
          description: 'reader',
          bucketPermissions: { [id]: 'read' },
        });
        const reader = service.client({ token: made.token ?? '' });
        expect((await reader.tokens.verify()).description).toBe('reader');
        expect((await failureOf(reader.buckets.create({ name: 'mine' }))).code).toBe('storage.forbidden');
        await storage.tokens.update(made.id, { description: 'still a reader' });
        expect((await storage.tokens.detail(made.id)).description).toBe('still a reader');
        const { token } = await storage.tokens.refresh(made.id);
        expect((await failureOf(reader.tokens.verify())).code).toBe('storage.unauthorized');
        expect(token).toMatch(/^\d+-\d+-\w+$/);
        await storage.tokens.delete(made.id);
        expect((await storage.tokens.list()).map((each) => each.id)).not.toContain(made.id);
        reader.close();
      });

      test('events and tickets', async () => {
        const run = await storage.ticket();
        expect(Number(await storage.ticket())).toBeGreaterThan(Number(run));
        const client = service.client({ runId: run });
        const { id } = await client.events.create({ message: 'hello', component: COMPONENT });
        expect(await client.events.detail(id)).toMatchObject({ message: 'hello', runId: run });
        const ofRun = await client.events.list({ runId: run });
        expect(ofRun.map((event) => event.id)).toEqual([id]);
        const file = await client.files.upload(bytesBody('x'), { name: 'x' });
        expect(file.runId).toBe(run);
        client.close();
      });

      test('a wrong token is told so, and not repeated', async () => {
        const stranger = service.client({ token: '1-2-thistokenisnotgood' });
        const error = await failureOf(stranger.tables.list());
        expect(error).toMatchObject({ code: 'storage.unauthorized', status: 401 });
        expect(JSON.stringify(error) + error.message).not.toContain('thistokenisnotgood');
      });

      test('ids with odd signs are ids', async () => {
        expect((await failureOf(storage.tables.detail('in.c-main.a/b?c#d'))).code).toBe('storage.notFound');
        expect((await failureOf(storage.tables.detail('..'))).message).toContain('cannot be an id');
      });
    });
  });
}
