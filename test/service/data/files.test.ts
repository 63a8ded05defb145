import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { anyText, FORM, matching, startService, type Running } from '../harness.ts';
import { hurry, metaOf } from '../database.ts';
import { clientOf, type FileBody } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;

beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
});
afterAll(async () => {
  await api.stop();
});

async function tokenFor(permissions: object): Promise<Record<string, string>> {
  const { body } = await client.call<{ token: string }>('POST', 'tokens', {
    description: 'limited',
    ...permissions,
  });
  return { 'x-storageapi-token': body.token };
}

const attempt = async (work: Promise<unknown>): Promise<string> =>
  await work.then(
    () => 'done',
    (error: Error) => error.name,
  );

const send = async (body: string, type = 'multipart/form-data; boundary=b'): Promise<Response> =>
  await fetch(`${api.addresses.url}/upload-file`, {
    method: 'POST',
    headers: { 'X-StorageApi-Token': api.token, 'Content-Type': type },
    body,
  });

describe('prepare', () => {
  test('says where the bytes are to be put, by JSON, by a form and in a branch', async () => {
    const asked = [
      await api.call('POST', 'files/prepare', {
        name: 'a b.csv',
        sizeBytes: 3,
        federationToken: 1,
        isEncrypted: true,
        tags: ['x', 'x', 'y'],
      }),
      await api.call(
        'POST',
        'branch/default/files/prepare',
        'name=a+b.csv&sizeBytes=3&federationToken=1&isEncrypted=1&tags[]=x&tags[]=y',
        FORM,
      ),
    ];
    for (const { status, body } of asked) {
      expect(status).toBe(201);
      expect(body).toMatchObject({
        name: 'a b.csv',
        sizeBytes: 3,
        provider: 'aws',
        region: 'us-east-1',
        isEncrypted: true,
        isSliced: false,
        tags: ['x', 'y'],
        maxAgeDays: 15,
        runId: null,
        runIds: [],
        creatorToken: { description: 'Master token' },
        uploadParams: {
          acl: 'private',
          key: matching(/^exp-15\/1\/files\/\d{4}\/\d\d\/\d\d\/\d+\.a_b\.csv$/),
          'x-amz-server-side-encryption': 'AES256',
          credentials: { Expiration: matching(/\+00:00$/) },
        },
      });
    }
  });

  test('a permanent file has no age, a run is noted, and nothing is to be put anywhere unless asked for', async () => {
    const answer = await api.call(
      'POST',
      'files/prepare',
      { name: 'x', isPermanent: true },
      { 'X-KBC-RunId': '7.8' },
    );
    expect(answer.body).toMatchObject({ maxAgeDays: null, runId: '7.8', runIds: ['7.8'] });
    expect(answer.body).not.toHaveProperty('uploadParams');
  });

  test('a sliced file has credentials unasked, as there is no other way to upload it', async () => {
    const { status, body } = await client.call<FileBody>('POST', 'files/prepare', {
      name: 'x',
      isSliced: true,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ isSliced: true, uploadParams: { credentials: { AccessKeyId: anyText } } });
  });

  test('names the endpoint of the object store, as the index does', async () => {
    const endpoint = api.addresses.parts['s3'];
    const { body } = await api.call('POST', 'files/prepare', { name: 'x', federationToken: true });
    expect(body).toMatchObject({ uploadParams: { endpoint } });
    const { body: index } = await client.call<{ services: unknown[] }>('GET', '');
    expect(index.services).toContainEqual({ id: 's3', url: endpoint });
  });

  test.each([[{}], [{ name: '' }], [{ name: 'x', tags: 'one', federationToken: 1 }]])(
    'with %j is refused',
    async (body) => {
      const answer = await api.call('POST', 'files/prepare', body);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'storage.validation', errors: [{}] });
    },
  );
});

describe('credentials', () => {
  test('of an upload write that key and nothing else', async () => {
    const file = await client.upload('content');
    const { key: Key, bucket: Bucket, credentials } = file.uploadParams;
    const s3 = client.s3(credentials, file.region);
    expect(await attempt(s3.send(new PutObjectCommand({ Bucket, Key, Body: 'again' })))).toBe('done');
    expect(await attempt(s3.send(new PutObjectCommand({ Bucket, Key: `${Key}_part`, Body: 'x' })))).toBe(
      'AccessDenied',
    );
    expect(await attempt(s3.send(new GetObjectCommand({ Bucket, Key })))).toBe('AccessDenied');
    s3.destroy();
  });

  test('of a download read that file and list it, and nothing else', async () => {
    const { id } = await client.upload('content');
    const { body: file } = await client.call<FileBody>('GET', `files/${id}?federationToken=true`);
    const { key: Key, bucket: Bucket } = file.s3Path;
    const s3 = client.s3(file.credentials, file.region);
    expect(await (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString()).toBe(
      'content',
    );
    expect((await s3.send(new ListObjectsV2Command({ Bucket, Prefix: Key }))).KeyCount).toBe(1);
    expect(
      await attempt(s3.send(new ListObjectsV2Command({ Bucket, Prefix: Key.replace(/[^/]+$/, '') }))),
    ).toBe('AccessDenied');
    expect(await attempt(s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' })))).toBe('AccessDenied');
    s3.destroy();
  });

  test('of an encrypted file insist on its header', async () => {
    const file = await client.upload('content', { isEncrypted: true });
    const { key: Key, bucket: Bucket, credentials } = file.uploadParams;
    const s3 = client.s3(credentials, file.region);
    expect(await attempt(s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' })))).toBe('AccessDenied');
    const { body } = await client.call<FileBody>('GET', `files/${file.id}?federationToken=1`);
    const reader = client.s3(body.credentials, body.region);
    expect((await reader.send(new HeadObjectCommand({ Bucket, Key }))).ServerSideEncryption).toBe('AES256');
    s3.destroy();
    reader.destroy();
  });
});

describe('a file', () => {
  test('gets tags and loses them, also with slashes', async () => {
    const { id } = await client.upload('x', { tags: ['b'] });
    for (const tag of ['image/tag/tag1/', 'a', 'a']) {
      expect((await api.call('POST', `files/${id}/tags`, { tag })).status).toBe(204);
    }
    const tags = async () => (await client.call<FileBody>('GET', `files/${id}`)).body.tags;
    expect(await tags()).toEqual(['b', 'image/tag/tag1/', 'a']);
    expect((await api.call('DELETE', `files/${id}/tags/image/tag/tag1/`)).status).toBe(204);
    expect((await api.call('DELETE', `branch/default/files/${id}/tags/b`)).status).toBe(204);
    expect(await tags()).toEqual(['a']);
  });

  test('of two tags that differ by the slash at the end, loses the one that is named', async () => {
    const { id } = await client.upload('x', { tags: ['a', 'a/', 'b/'] });
    const tags = async () => (await client.call<FileBody>('GET', `files/${id}`)).body.tags;
    await api.call('DELETE', `files/${id}/tags/a`);
    expect(await tags()).toEqual(['a/', 'b/']);
    await api.call('DELETE', `files/${id}/tags/a/`);
    expect(await tags()).toEqual(['b/']);
    await api.call('DELETE', `files/${id}/tags/b%2F`);
    expect(await tags()).toEqual([]);
  });

  test('may have more tags than a statement of the database has values', async () => {
    const tags = Array.from({ length: 20_000 }, (_, index) => `t${index}`);
    const made = await client.call<FileBody>('POST', 'files/prepare', { name: 'many', tags });
    expect(made.status).toBe(201);
    expect((await client.call<FileBody>('GET', `files/${made.body.id}`)).body.tags).toEqual(tags);
    expect((await api.call('DELETE', `files/${made.body.id}`)).status).toBe(204);
  });

  test('is deleted with its bytes, at once or by a job', async () => {
    const file = await client.upload('x');
    expect((await fetch(file.url)).status).toBe(200);
    expect((await api.call('DELETE', `files/${file.id}`)).status).toBe(204);
    expect((await fetch(file.url)).status).toBe(404);
    expect((await api.call('GET', `files/${file.id}`)).body).toMatchObject({
      code: 'storage.files.notFound',
      error: 'File not found',
    });
    const sliced = await client.uploadSliced(['1\n', '2\n']);
    const manifest = await fetch(sliced.url);
    expect(await manifest.json()).toMatchObject({ entries: [{}, {}] });
    expect(await client.run('DELETE', `files/${sliced.id}?async=1`)).toMatchObject({ status: 'success' });
    expect((await fetch(sliced.url)).status).toBe(404);
  });

  test('is its own token’s, unless the token may read all', async () => {
    const { id } = await client.upload('x');
    const limited = await tokenFor({});
    expect((await api.call('GET', `files/${id}`, undefined, limited)).body).toMatchObject({
      code: 'accessDenied',
    });
    expect((await api.call('DELETE', `files/${id}`, undefined, limited)).status).toBe(403);
    expect((await api.call('GET', 'files', undefined, limited)).body).toEqual([]);
    const own = await client.upload('x', {}, limited);
    expect((await api.call('GET', `files/${own.id}`, undefined, limited)).status).toBe(200);
    const all = await tokenFor({ canReadAllFileUploads: true });
    expect((await api.call('GET', `files/${id}`, undefined, all)).status).toBe(200);
  });
});

describe('buckets and permissions', () => {
  test('a bucket has an id of its stage and name, and shows its tables', async () => {
    const made = await api.call('POST', 'buckets', 'name=shop&stage=out&description=About', FORM);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      id: 'out.c-shop',
      name: 'c-shop',
      displayName: 'shop',
      stage: 'out',
      description: 'About',
      tables: [],
      attributes: [],
      metadata: [],
      lastChangeDate: null,
    });
    expect((await api.call('POST', 'buckets', { name: 'shop', stage: 'out' })).body).toMatchObject({
      code: 'storage.buckets.alreadyExists',
      error: 'The display name "shop" already exists in project.',
    });
    expect((await api.call('POST', 'buckets', { name: '$$$$$' })).body).toMatchObject({
      code: 'storage.buckets.validation',
    });
    await client.create('out.c-shop', 'orders', 'id\n1\n');
    expect((await api.call('GET', 'buckets/out.c-shop')).body).toMatchObject({
      rowsCount: 1,
      tables: [{ id: 'out.c-shop.orders' }],
    });
    expect((await api.call('GET', 'buckets/out.c-shop/tables?include=columns')).body).toMatchObject([
      { columns: ['id'] },
    ]);
    const list = (await client.call<{ id: string; tables: string }[]>('GET', 'buckets')).body;
    expect(list.find(({ id }) => id === 'out.c-shop')?.tables).toMatch(/^http/);
    expect(
      (await api.call('PUT', 'buckets/out.c-shop', { displayName: 'Shop', color: '#fff' })).body,
    ).toMatchObject({ displayName: 'Shop', color: '#fff' });
    expect((await api.call('GET', 'buckets/out.c-shop/owner')).body).toMatchObject({
      code: 'storage.bucket.ownerNotFound',
    });
    expect((await api.call('DELETE', 'buckets/out.c-shop')).body).toMatchObject({
      code: 'buckets.deleteNotEmpty',
      error: 'Only empty buckets can be deleted. There are 1 tables in the bucket.',
    });
    expect((await api.call('DELETE', 'buckets/out.c-shop/?force=1')).status).toBe(204);
    expect((await api.call('GET', 'buckets/out.c-shop')).body).toMatchObject({
      code: 'storage.buckets.notFound',
    });
    expect((await api.call('GET', 'tables/out.c-shop.orders')).status).toBe(404);
  });

  test('read, write and manage are what a token may do with a bucket', async () => {
    await api.call('POST', 'buckets', { name: 'guarded' });
    await client.create('in.c-guarded', 't', 'id\n1\n');
    const read = await tokenFor({ bucketPermissions: { 'in.c-guarded': 'read' } });
    const write = await tokenFor({ bucketPermissions: { 'in.c-guarded': 'write' } });
    const none = await tokenFor({});
    const status = async (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
      (await api.call(method, path, body, headers)).status;
    expect(await status('GET', 'buckets/in.c-guarded', none)).toBe(403);
    expect(await status('GET', 'tables/in.c-guarded.t', none)).toBe(403);
    expect(await status('POST', 'buckets', write, { name: 'other' })).toBe(403);
    expect((await api.call('GET', 'tables', undefined, none)).body).toEqual([]);
    expect(await status('GET', 'tables/in.c-guarded.t/data-preview', read)).toBe(200);
    expect(await status('POST', 'tables/in.c-guarded.t/columns', read, { name: 'x' })).toBe(403);
    expect(await status('DELETE', 'buckets/in.c-guarded?force=1', write)).toBe(403);
    const file = await client.upload('id\n2\n', {}, write);
    expect(await status('POST', 'tables/in.c-guarded.t/import-async', read, { dataFileId: file.id })).toBe(
      403,
    );
    const job = await client.run(
      'POST',
      'tables/in.c-guarded.t/import-async',
      { dataFileId: file.id },
      write,
    );
    expect(job.status).toBe('success');
    const foreign = await client.upload('id\n3\n');
    expect(
      await status('POST', 'tables/in.c-guarded.t/import-async', write, { dataFileId: foreign.id }),
    ).toBe(403);
  });

  test('an exported file is for every token that may read the table', async () => {
    await api.call('POST', 'buckets', { name: 'cached' });
    await client.create('in.c-cached', 't', 'id\n1\n');
    const first = await client.run('POST', 'tables/in.c-cached.t/export-async', {});
    const reader = await tokenFor({ bucketPermissions: { 'in.c-cached': 'read' } });
    const second = await client.run('POST', 'tables/in.c-cached.t/export-async', {}, reader);
    const { file } = second.results as { file: { id: number } };
    expect(second.results).toEqual({ file: (first.results as { file: unknown }).file, cacheHit: true });
    expect(await client.download(file.id, reader)).toBe('"1"\n');
    expect((await api.call('GET', `files/${file.id}`, undefined, await tokenFor({}))).status).toBe(403);
    expect((await api.call('DELETE', `files/${file.id}`, undefined, reader)).status).toBe(403);
  });

  test('a branch has buckets of its own', async () => {
    const job = (await client.call<{ results: { id: number } }>('POST', 'dev-branches', { name: 'side' }))
      .body;
    const side = `branch/${job.results.id}`;
    expect((await api.call('POST', `${side}/buckets`, { name: 'apart' })).status).toBe(201);
    expect((await api.call('GET', 'buckets/in.c-apart')).status).toBe(404);
    const file = await client.upload('id\n1\n');
    const made = await client.run('POST', `${side}/buckets/in.c-apart/tables-async`, {
      name: 't',
      dataFileId: file.id,
    });
    expect(made.status).toBe('success');
    expect((await api.call('GET', `${side}/tables/in.c-apart.t/data-preview`)).text).toBe('"id"\n"1"\n');
  });
});

describe('the content of a file', () => {
  test('is had from the service, and is nothing that a browser runs', async () => {
    const file = await client.upload('<script>1</script>', { name: 'ä "b".html' });
    const answer = await api.call('GET', `files/${file.id}/content`);
    expect(answer.text).toBe('<script>1</script>');
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-length')).toBe('18');
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; .*filename\*=UTF-8''%C3%A4/);
  });

  test('is as it is stored, also where its name promises gzip', async () => {
    const file = await client.upload('no gzip', { name: 'a.csv.gz' });
    expect((await api.call('GET', `files/${file.id}/content`)).text).toBe('no gzip');
  });

  test('that never came, or is of another token, is refused', async () => {
    const { body } = await client.call<FileBody>('POST', 'files/prepare', {
      name: 'a',
      federationToken: true,
    });
    expect(await api.call('GET', `files/${body.id}/content`)).toMatchObject({
      status: 400,
      body: { code: 'storage.fileNotUploaded' },
    });
    const file = await client.upload('secret');
    const other = await tokenFor({ bucketPermissions: {} });
    expect(await api.call('GET', `files/${file.id}/content`, undefined, other)).toMatchObject({
      status: 403,
    });
  });
});

test('the importer gives a file the name that was sent before it', async () => {
  const form = new FormData();
  form.append('name', 'žluť.csv');
  form.append('data', new Blob(['id\n1\n']), 'local.tmp');
  const { body } = await client.call<FileBody>('POST', '/upload-file', form);
  expect(body).toMatchObject({ name: 'žluť.csv', url: matching(/\.csv\?/) });
  const { headers } = await fetch(body.url);
  expect(headers.get('content-disposition')).toContain("filename*=UTF-8''%C5%BElu%C5%A5.csv");
});

describe('the importer refuses', () => {
  test.each([
    [
      'a body without a file',
      '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--b--\r\n',
      'storage.validation',
    ],
    [
      'a body that ends in its file',
      '--b\r\nContent-Disposition: form-data; name="data"; filename="x.csv"\r\n\r\nid\n1',
      'malformedRequest',
    ],
  ])('%s', async (_name, body, code) => {
    const before = (await client.call<FileBody[]>('GET', 'files')).body.length;
    const answer = await send(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code });
    expect((await client.call<FileBody[]>('GET', 'files')).body).toHaveLength(before);
  });

  test('a caller without a token', async () => {
    const answer = await fetch(`${api.addresses.parts['importer']}/upload-file`, {
      method: 'POST',
      body: new FormData(),
    });
    expect(answer.status).toBe(401);
  });

  test('an upload that breaks off, and nothing of it stays', async () => {
    const before = (await client.call<FileBody[]>('GET', 'files')).body.length;
    const { hostname, port } = new URL(api.addresses.url);
    const socket = connect(Number(port), hostname);
    const head = '--b\r\nContent-Disposition: form-data; name="data"; filename="x.csv"\r\n\r\nid\n1\n';
    socket.write(
      `POST /upload-file HTTP/1.1\r\nHost: x\r\nX-StorageApi-Token: ${api.token}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n${head}`,
    );
    await expect
      .poll(async () => (await client.call<FileBody[]>('GET', 'files')).body.length)
      .toBe(before + 1);
    socket.destroy();
    await expect.poll(async () => (await client.call<FileBody[]>('GET', 'files')).body.length).toBe(before);
  });
});

test('files are swept when their time is over, and not before', async () => {
  let ahead = 0;
  const env = { ...systemEnv, now: () => Date.now() + ahead };
  const first = await startService({ env });
  const own = clientOf(first);
  const old = await own.upload('old');
  const kept = (
    await own.call<FileBody>('POST', 'files/prepare', {
      name: 'kept',
      isPermanent: true,
      federationToken: true,
    })
  ).body;
  await first.service.stop();
  ahead = 16 * 86_400_000;
  await hurry(first.dir, ahead);
  const meta = await metaOf(first.dir);
  // The clock of the database has not moved: so it has never been done.
  await meta.deleteFrom('counters').where('name', '!=', 'id').execute();
  await meta.destroy();
  const second = await startService({ dir: first.dir, env });
  const files = async () => (await second.call('GET', 'files?showExpired=1')).body as { id: number }[];
  await expect.poll(async () => (await files()).map(({ id }) => id)).toEqual([kept.id]);
  expect((await second.call('GET', `files/${old.id}`)).status).toBe(404);
  await second.stop();
});
