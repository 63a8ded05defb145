import { readdir } from 'node:fs/promises';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../../src/lib/env.ts';
import { revokeToken } from '../../../src/service/stores/metadata/tokens.ts';
import { errorCode } from '../stores/objects/support.ts';
import { hurry, isOnPostgres, metaOf } from '../database.ts';
import { startService, type Running } from '../harness.ts';
import { clientOf, type FileBody } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;
let shift = 0;
const env: Env = { ...systemEnv, now: () => Date.now() + shift };
const HOUR = 3_600_000;

beforeEach(async () => {
  shift = 0;
  api = await startService({ env });
  client = clientOf(api);
});
afterEach(async () => await api.stop());

interface Made {
  readonly id: string;
  readonly token: string;
}

async function tokenWith(rights: object, place = ''): Promise<Made & { headers: Record<string, string> }> {
  const { body } = await client.call<Made>('POST', `${place}tokens`, { description: 'limited', ...rights });
  return { ...body, headers: { 'X-StorageApi-Token': body.token } };
}

test('to read the files of all is not to delete or tag them', async () => {
  const file = await client.upload('1\n');
  const { headers } = await tokenWith({ canReadAllFileUploads: true });
  expect((await api.call('GET', `files/${file.id}`, undefined, headers)).status).toBe(200);
  expect((await api.call('DELETE', `files/${file.id}`, undefined, headers)).status).toBe(403);
  expect((await api.call('POST', `files/${file.id}/tags`, { tag: 'mine' }, headers)).status).toBe(403);
  expect((await api.call('DELETE', `files/${file.id}/tags/x`, undefined, headers)).status).toBe(403);
});

const trigger = (runWithTokenId: string): object => ({
  runWithTokenId: Number(runWithTokenId),
  component: 'wr-db',
  configurationId: 'one',
  coolDownPeriodMinutes: 5,
  tableIds: [],
});

test('a trigger that runs with the rights of another token is changed and deleted by the master alone', async () => {
  const { headers, id } = await tokenWith({ componentAccess: ['wr-db'] });
  const { id: master } = (await client.call<Made>('GET', 'tokens/verify')).body;
  const made = (await client.call<Made>('POST', 'triggers', trigger(master))).body;
  const change = { configurationId: 'chosen by another' };
  expect((await api.call('PUT', `triggers/${made.id}`, change, headers)).status).toBe(403);
  expect((await api.call('DELETE', `triggers/${made.id}`, undefined, headers)).status).toBe(403);
  const own = (await client.call<Made>('POST', 'triggers', trigger(id), headers)).body;
  expect((await api.call('PUT', `triggers/${own.id}`, change, headers)).status).toBe(200);
  expect((await api.call('PUT', `triggers/${made.id}`, change)).status).toBe(200);
});

test('rights to a bucket are rights to that of one branch', async () => {
  const { results } = await client.run('POST', 'dev-branches', { name: 'Other' });
  const branch = `branch/${(results as { id: number }).id}/`;
  for (const place of ['', branch]) {
    await api.call('POST', `${place}buckets`, { name: 'main' });
    const columns = [{ name: 'id' }];
    await client.run('POST', `${place}buckets/in.c-main/tables-definition`, { name: 't', columns });
  }
  const bucketPermissions = { 'in.c-main': 'write' };
  const ofMain = await tokenWith({ bucketPermissions });
  const ofBranch = await tokenWith({ bucketPermissions }, branch);
  const statuses = async (headers: Record<string, string>): Promise<number[]> => [
    (await api.call('GET', 'tables/in.c-main.t', undefined, headers)).status,
    (await api.call('GET', `${branch}tables/in.c-main.t`, undefined, headers)).status,
  ];
  expect(await statuses(ofMain.headers)).toEqual([200, 403]);
  expect(await statuses(ofBranch.headers)).toEqual([403, 200]);
  const job = await client.run('POST', `${branch}tables/in.c-main.t/export-async`, {});
  expect((await api.call('GET', `jobs/${job.id}`, undefined, ofMain.headers)).status).toBe(403);
  expect((await api.call('GET', `jobs/${job.id}`, undefined, ofBranch.headers)).status).toBe(200);
  const { id } = (job.results as { file: { id: number } }).file;
  expect((await api.call('GET', `files/${id}`, undefined, ofMain.headers)).status).toBe(403);
  expect((await api.call('GET', `files/${id}`, undefined, ofBranch.headers)).status).toBe(200);
  await api.call('PUT', `${branch}tokens/${ofMain.id}`, { bucketPermissions });
  expect(await statuses(ofMain.headers)).toEqual([403, 200]);
});

test('keys of the object store end with the file and the token that they were given for', async () => {
  const { headers, id } = await tokenWith({});
  const put = async (file: FileBody): Promise<string> => {
    const { bucket: Bucket, key: Key, credentials } = file.uploadParams;
    const s3 = client.s3(credentials, file.region);
    const code = await errorCode(
      s3.send(new PutObjectCommand({ Bucket, Key, Body: 'late' })).then(() => {
        throw Object.assign(new Error('written'), { code: 'written' });
      }),
    );
    s3.destroy();
    return code;
  };
  const file = await client.upload('1\n', {}, headers);
  const other = await client.upload('1\n', {}, headers);
  expect(await put(file)).toBe('written');
  await api.call('DELETE', `files/${file.id}`);
  expect(await put(file)).toBe('ExpiredToken');
  expect(await put(other)).toBe('written');

  const { body: readable } = await client.call<FileBody>(
    'GET',
    `files/${other.id}?federationToken=1`,
    undefined,
    headers,
  );
  await api.call('DELETE', `tokens/${id}`);
  expect(await put(other)).toBe('ExpiredToken');
  const s3 = client.s3(readable.credentials, readable.region);
  const read = new GetObjectCommand({ Bucket: readable.s3Path.bucket, Key: readable.s3Path.key });
  expect(await errorCode(s3.send(read))).toBe('ExpiredToken');
  s3.destroy();

  // As that of a run which has ended, and which another one may go on with.
  const revoked = await tokenWith({});
  const left = await client.upload('1\n', {}, revoked.headers);
  const meta = await metaOf(api.dir);
  await revokeToken(meta, Number(revoked.id));
  await meta.destroy();
  expect(await put(left)).toBe('ExpiredToken');

  const short = await tokenWith({ expiresIn: 60 });
  const kept = await client.upload('1\n', {}, short.headers);
  shift = 61_000;
  await hurry(api.dir, shift);
  expect(await put(kept)).toBe('ExpiredToken');
});

// Over PostgreSQL upkeep is handed on when a process ends, and its time is told by the clock of the database.
test.runIf(!isOnPostgres)('objects without a file are swept, and no others', async () => {
  const file = await client.upload('kept\n');
  const sliced = await client.uploadSliced(['1\n', '2\n']);
  const { service, dir } = api;
  // As after the copy of the metadata from before was put back: the object is there, and nobody knows of it.
  const lost = await client.upload('lost\n');
  await service.stop();
  const meta = await metaOf(dir);
  await meta.deleteFrom('files').where('id', '=', lost.id).execute();
  await meta.destroy();
  const stored = async (): Promise<number> => {
    const entries = await readdir(`${dir}/objects/objects`, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).length;
  };
  expect(await stored()).toBe(5);

  const restarted = await startService({ dir, env });
  await restarted.service.stop();
  expect(await stored()).toBe(5);
  shift = 25 * HOUR;
  const later = await startService({ dir, env });
  await later.service.stop();
  expect(await stored()).toBe(4);
  const last = await startService({ dir, env });
  const again = clientOf(last);
  const { url } = (await again.call<FileBody>('GET', `files/${file.id}`)).body;
  expect(await (await fetch(url)).text()).toBe('kept\n');
  expect(await again.download(sliced.id)).toBe('1\n2\n');
  await last.stop();
});
