import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodeOf, StorageError } from '../../src/lib/errors.ts';
import { systemEnv } from '../../src/lib/env.ts';
import { readBackup } from '../../src/service/domain/transfer/backup/read-backup.ts';
import { loadSecret } from '../../src/service/stores/objects/secret.ts';
import { metaOf } from './database.ts';
import { containing, startService, type Running } from './harness.ts';

let api: Running;
beforeAll(async () => {
  api = await startService();
});
afterAll(async () => await api.stop());

const underKey = (key: string, token = api.token): Record<string, string> => ({
  'idempotency-key': key,
  'x-storageapi-token': token,
});

describe('a key of a request', () => {
  test('is refused where there is no token that it could belong to', async () => {
    const signIn = await fetch(`${api.addresses.url}/console/session`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-console': '1',
        'idempotency-key': 'sign in',
      },
      body: JSON.stringify({ token: api.token }),
    });
    expect(signIn.status).toBe(400);
    expect(await signIn.json()).toMatchObject({ code: 'storage.idempotency.notSupported' });
  });

  test('gives no answer to a token that has lost a right, and no other answer to one that has not', async () => {
    await api.call('POST', 'components/ex-generic-v2/configs', { name: 'k', configurationId: 'k' });
    const rights = { description: 'Runner', componentAccess: ['ex-generic-v2'] };
    const { id, token } = (await api.call('POST', 'tokens', rights)).body as { id: string; token: string };
    const asked = { component: 'ex-generic-v2', configuration: 'k' };
    const ask = async () => await api.call('POST', 'runs', asked, underKey('a run', token));
    const first = await ask();
    expect(first.status).toBe(201);
    const again = await ask();
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(again.body).toEqual(first.body);
    await api.call('PUT', `tokens/${id}`, { componentAccess: [] });
    const refused = await ask();
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({ code: 'storage.idempotency.rightsChanged' });
  });

  test('of a run is known to the next one, whatever that one may do besides', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'run-key-'));
    const service = await startService({ dir });
    const { body } = await service.call('POST', 'tokens', { description: 'Run' });
    const made = body as { id: string; token: string };
    const set = async (changes: object): Promise<void> => {
      const meta = await metaOf(dir);
      await meta.updateTable('tokens').set(changes).where('id', '=', Number(made.id)).execute();
      await meta.destroy();
    };
    const limits = { run: 1, branch_id: 1, component_id: 'x', configuration_id: '1', tags: [] };
    const buckets = { 'in.c-pushed': 'write' };
    await set({ run_limits: JSON.stringify(limits), bucket_permissions: JSON.stringify(buckets) });
    const bucket = { name: 'pushed', stage: 'in' };
    const ask = async () => await service.call('POST', 'buckets', bucket, underKey('push', made.token));
    const first = await ask();
    expect(first.status).toBe(201);
    await set({
      run_limits: JSON.stringify({ ...limits, run: 2 }),
      bucket_permissions: JSON.stringify({ ...buckets, 'in.c-more': 'read' }),
      can_read_all_files: 1,
    });
    const again = await ask();
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(again.body).toEqual(first.body);
    await service.stop();
  });

  test('answers the deletion again that took the right to the bucket along', async () => {
    await api.call('POST', 'buckets', { name: 'gone', stage: 'in' });
    const rights = { description: 'Owner', bucketPermissions: { 'in.c-gone': 'manage' } };
    const { token } = (await api.call('POST', 'tokens', rights)).body as { token: string };
    const ask = async () => await api.call('DELETE', 'buckets/in.c-gone', undefined, underKey('gone', token));
    expect((await ask()).status).toBe(204);
    const again = await ask();
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([204, 'true']);
  });
});

test('HEAD of a stream holds no place, and one token has not all places', async () => {
  await api.call('POST', 'components/ex-generic-v2/configs', { name: 'c', configurationId: 'c' });
  const asked = { component: 'ex-generic-v2', configuration: 'c' };
  const { id } = (await api.call('POST', 'runs', asked)).body as { id: string };
  for (let n = 0; n < 110; n++) expect((await api.call('HEAD', `runs/${id}/events`)).status).toBe(200);
  const open: ReturnType<typeof httpRequest>[] = [];
  const follow = async (token: string): Promise<number> => {
    const request = httpRequest(`${api.addresses.url}/v2/storage/runs/${id}/events`, {
      headers: { 'x-storageapi-token': token },
    }).end();
    open.push(request.on('error', () => undefined));
    const [answer] = (await once(request, 'response')) as [{ statusCode: number }];
    return answer.statusCode;
  };
  const statuses: number[] = [];
  for (let n = 0; n < 51; n++) statuses.push(await follow(api.token));
  expect(statuses.filter((status) => status === 200)).toHaveLength(50);
  expect(statuses.at(-1)).toBe(503);
  const rights = { description: 'Other', componentAccess: ['ex-generic-v2'] };
  const { token } = (await api.call('POST', 'tokens', rights)).body as { token: string };
  expect(await follow(token)).toBe(200);
  for (const request of open) request.destroy();
  await expect
    .poll(async () => (await Promise.all([follow(api.token), follow(api.token)])).join())
    .toBe('200,200');
  for (const request of open) request.destroy();
});

test('a session makes no code, which would outlive it', async () => {
  const headers = { 'content-type': 'application/json', 'x-console': '1' };
  const { url } = api.addresses;
  const body = JSON.stringify({ token: api.token });
  const signedIn = await fetch(`${url}/console/session`, { method: 'POST', headers, body });
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const ask = async (by: Record<string, string>) =>
    await fetch(`${url}/console/codes`, { method: 'POST', headers: { ...headers, ...by }, body: '{}' });
  expect((await ask({ cookie })).status).toBe(403);
  expect((await ask({ 'x-storageapi-token': api.token })).status).toBe(201);
});

test('a page that was uploaded is kept by a browser, and neither shown nor run', async () => {
  const form = new FormData();
  form.append('data', new Blob(['<script>alert(1)</script>'], { type: 'text/html' }), 'page.html');
  const { body } = await api.call('POST', '/upload-file', form);
  const { id } = body as { id: number };
  const { url } = (await api.call('GET', `files/${id}`)).body as { url: string };
  const { headers } = await fetch(url);
  expect(headers.get('content-disposition')).toMatch(/^attachment/);
  expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

test('the page of the API runs its own scripts alone, has no origin, and stands in no other page', async () => {
  const { text, headers } = await api.call('GET', '/docs');
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).not.toMatch(/unsafe|https?:|\*|connect-src|allow-same-origin/);
  for (const part of ['sandbox allow-scripts;', "default-src 'none'", "frame-ancestors 'none'"])
    expect(policy).toContain(part);
  const scripts = [...text.matchAll(/<script>([^]*?)<\/script>/g)];
  expect(scripts).toHaveLength(1);
  const hash = createHash('sha256')
    .update(scripts[0]?.[1] ?? '')
    .digest('base64');
  expect(policy).toContain(`script-src 'self' 'sha256-${hash}'`);
  expect(text).not.toMatch(/ (?:style|on[a-z]+)=/);
});

const index = async (host: string, query = ''): Promise<unknown> =>
  await new Promise((resolve, reject) => {
    httpRequest(`${api.addresses.url}/v2/storage${query}`, { headers: { host } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve(JSON.parse(text)));
    })
      .on('error', reject)
      .end();
  });

test('the index is that of each address, and of what is asked for', async () => {
  for (const host of ['one.example', 'two.example', 'one.example']) {
    const uri = `http://${host}/v2/storage/components/ex-generic-v2`;
    expect(await index(host)).toMatchObject({
      components: expect.arrayContaining([
        expect.objectContaining({ id: 'ex-generic-v2', uri, configurationSchema: {} }),
      ]) as unknown,
    });
    const brief = (await index(host, '?exclude=componentDetails')) as { components: object[] };
    expect(brief.components[0]).not.toHaveProperty('configurationSchema');
    expect(await index(host, '?exclude=components')).not.toHaveProperty('components');
  }
});

const errorOf = async (work: Promise<unknown>): Promise<StorageError> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StorageError);
  return error as StorageError; // as was just seen
};

const block = (name: string, content: string): Buffer => {
  const head = Buffer.alloc(512);
  const write = (text: string, at: number): void => void head.write(text, at, 'latin1');
  write(name, 0);
  for (const [text, at] of [
    ['0000600\0', 100],
    ['0000000\0', 108],
    ['0000000\0', 116],
    [`${content.length.toString(8).padStart(11, '0')}\0`, 124],
    ['00000000000\0', 136],
    ['        0', 148],
    ['ustar\x0000', 257],
  ] as const)
    write(text, at);
  const sum = head.reduce((all, byte) => all + byte, 0);
  write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content, 0, 'latin1');
  return Buffer.concat([head, body]);
};

describe('files that are not whole are the matter of who has them', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'small-'));
  });
  afterAll(async () => await rm(folder, { recursive: true, force: true }));

  test('a secret', async () => {
    const file = join(folder, 'objects.secret');
    await loadSecret(file, systemEnv);
    await truncate(file, 7);
    const error = await errorOf(loadSecret(file, systemEnv));
    expect(error).toMatchObject({ code: 'storage.damaged', hint: containing('delete the file') });
    expect(exitCodeOf(error)).toBe(1);
  });

  test('a backup that has a name twice', async () => {
    const file = join(folder, 'twice.tar');
    const entries = [block('meta.sqlite', 'x'), block('meta.sqlite', 'y')];
    await writeFile(file, Buffer.concat([...entries, Buffer.alloc(1024)]));
    const met: string[] = [];
    const target = join(folder, 'unpacked');
    const error = await errorOf(
      readBackup(file, async ({ content }) => {
        for await (const chunk of content) met.push(Buffer.from(chunk).toString());
        await writeFile(target, met.join(''), { flag: 'wx' });
      }),
    );
    expect(met).toEqual(['x', 'y']);
    expect(error).toMatchObject({ code: 'storage.differs', message: containing('a file twice') });
    expect(exitCodeOf(error)).toBe(1);
    expect(await readFile(target, 'utf8')).toBe('x');
  });
});
