import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bytesBody, StorageClient } from '../../../src/storage/client/index.ts';
import { startGex } from '../../cli/support.ts';
import { isOnPostgres } from '../database.ts';
import { startService, type Running } from '../harness.ts';
import { EXTENSIONS } from '../stores/tables/lake/support.ts';

const LAKE = {
  tables: 'lake',
  ...(EXTENSIONS === undefined ? {} : { duckdbExtensions: EXTENSIONS }),
} as const;
const DAY_MS = 24 * 60 * 60 * 1000;

// Over PostgreSQL a lake has its files in an object store, which these tests do not have.
describe.runIf(EXTENSIONS !== undefined && !isOnPostgres)('files of a lake that no table has', () => {
  test('are listed by a job when they are two days old, and deleted when that job is named', async () => {
    const { service, client } = await started(LAKE);
    await client.buckets.create({ name: 'main', stage: 'in' });
    await client.tables.define('in.c-main', { name: 't', columns: ['id'] });
    const { id } = await client.files.upload(bytesBody(Buffer.from('id\n1\n')), { name: 'rows.csv' });
    await client.tables.load('in.c-main.t', { dataFileId: id });
    const data = join(service.dir, 'tables/lake/data');
    const [owned = ''] = await filesIn(data);
    const orphan = join(dirname(owned), 'ducklake-left.parquet');
    const young = join(dirname(owned), 'ducklake-young.parquet');
    for (const file of [orphan, young]) await writeFile(file, 'left');
    // A file of a table is never listed, however old it is.
    for (const [file, days] of [
      [owned, 30],
      [orphan, 3],
      [young, 1],
    ] as const)
      await utimes(file, new Date(), new Date(Date.now() - days * DAY_MS));

    const listed = await client.tables.orphans();
    expect(listed).toMatchObject({ isDeleted: false, count: 1, files: [{ path: orphan, bytes: 4 }] });
    await expect(stat(orphan)).resolves.toBeDefined();
    const job = await client.jobs.detail(listed.jobId);
    expect(job).toMatchObject({ operationName: 'orphanedFiles', status: 'success', results: { count: 1 } });

    const told = await gex(service, 'orphans');
    expect(told.stdout).toMatch(
      /ducklake-left\.parquet +4 B .*\n1 file without a table\. gex storage tables orphans --delete \d+ /,
    );
    expect(told.stdout).not.toContain('young');
    const jobOfCommand = /--delete (\d+)/.exec(told.stdout)?.[1] ?? '';
    const deleted = await gex(service, 'orphans', '--delete', jobOfCommand);
    expect(deleted.stdout).toContain('1 file deleted.');
    await expect(stat(orphan)).rejects.toThrow('ENOENT');
    await expect(stat(young)).resolves.toBeDefined();
    expect(await client.tables.preview('in.c-main.t')).toMatchObject({ rows: [['1']] });
    expect((await gex(service, 'orphans')).stdout).toBe('No file is without a table.\n');
  }, 120_000);

  test('that became more since they were listed stay', async () => {
    const { service, client } = await started(LAKE);
    await client.buckets.create({ name: 'main', stage: 'in' });
    await client.tables.define('in.c-main', { name: 't', columns: ['id'] });
    const data = join(service.dir, 'tables/lake/data');
    const listed = await client.tables.orphans();
    const late = join(data, 'ducklake-late.parquet');
    await writeFile(late, 'late');
    await utimes(late, new Date(), new Date(Date.now() - 3 * DAY_MS));
    await expect(client.tables.orphans({ jobId: listed.jobId })).rejects.toMatchObject({
      message: expect.stringContaining('List them again') as string,
    });
    await expect(stat(late)).resolves.toBeDefined();
  }, 120_000);

  test('are for the master token, and of a job that has listed them', async () => {
    const { service, client } = await started(LAKE);
    const { body } = await service.call('POST', 'tokens', { description: 'x', canManageBuckets: true });
    const limited = { 'x-storageapi-token': (body as { token: string }).token };
    expect((await service.call('POST', 'orphaned-files', {}, limited)).status).toBe(403);
    await client.buckets.create({ name: 'main', stage: 'in' });
    for (const jobId of [999, 1]) {
      const refused = await service.call('POST', 'orphaned-files', { jobId });
      expect(refused).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('has listed no files') as string },
      });
    }
  }, 120_000);
});

test.runIf(process.env['TEST_TABLES'] !== 'lake')('a storage without files of tables says so', async () => {
  const { client } = await started({});
  await expect(client.tables.orphans()).rejects.toMatchObject({
    message: expect.stringContaining('those of a lake are') as string,
  });
});

async function started(
  options: Parameters<typeof startService>[0],
): Promise<{ readonly service: Running; readonly client: StorageClient }> {
  const service = await startService(options);
  onTestFinished(async () => await service.stop());
  const client = new StorageClient({ url: service.addresses.url, token: service.token });
  onTestFinished(() => client.close());
  return { service, client };
}

async function gex(service: Running, ...args: readonly string[]): Promise<{ readonly stdout: string }> {
  return await startGex(['storage', 'tables', ...args, '--storage', service.addresses.url], {
    env: { ...process.env, KBC_TOKEN: service.token },
  }).ended;
}

async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
