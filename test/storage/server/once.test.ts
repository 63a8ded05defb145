import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createService, type Service } from '../../../src/storage/server/service.ts';
import { metaOf, placeOf } from './database.ts';
import { startService, type Running } from './harness.ts';

let running: Running;
beforeAll(async () => {
  running = await startService();
  await running.call('POST', 'buckets', { name: 'main', stage: 'in' });
});
afterAll(async () => await running.stop());

const once = (key: string): Record<string, string> => ({ 'Idempotency-Key': key });
const idOf = (body: unknown): number => (body as { id: number }).id; // of jobs and files

async function fileOf(name: string, content: string): Promise<number> {
  const form = new FormData();
  form.append('data', new Blob([content]), name);
  return idOf((await running.call('POST', '/upload-file', form)).body);
}

async function ended(job: number): Promise<string> {
  for (;;) {
    const { status } = (await running.call('GET', `jobs/${job}`)).body as { status: string };
    if (status === 'success' || status === 'error') return status;
  }
}

async function rowsOf(table: string): Promise<number> {
  return ((await running.call('GET', `tables/${table}`)).body as { rowsCount: number }).rowsCount;
}

async function newTable(name: string): Promise<{ table: string; file: number }> {
  const body = { name, columns: [{ name: 'id' }] };
  const { body: made } = await running.call('POST', 'buckets/in.c-main/tables-definition', body);
  expect(await ended(idOf(made))).toBe('success');
  return { table: `in.c-main.${name}`, file: await fileOf(`${name}.csv`, 'id\n1\n2\n') };
}

describe('a request with an Idempotency-Key', () => {
  test('loads rows once, however often and late it arrives', async () => {
    const { table, file } = await newTable('once');
    const ask = async () =>
      await running.call(
        'POST',
        `tables/${table}/import-async`,
        { dataFileId: file, incremental: true },
        once('load 1'),
      );
    const [first, ...others] = await Promise.all([ask(), ask(), ask(), ask(), ask(), ask()]);
    for (const other of others) {
      expect(other.status).toBe(202);
      expect(idOf(other.body)).toBe(idOf(first.body));
    }
    expect(await ended(idOf(first.body))).toBe('success');
    await running.call('DELETE', `files/${file}`);
    const late = await ask();
    expect(idOf(late.body)).toBe(idOf(first.body));
    expect(late.headers.get('idempotency-replayed')).toBe('true');
    expect(await rowsOf(table)).toBe(2);
  });

  test('is done again under another key, or without one', async () => {
    const { table, file } = await newTable('again');
    for (const headers of [once('a'), once('b'), {}]) {
      const body = { dataFileId: file, incremental: true };
      const { body: job } = await running.call('POST', `tables/${table}/import-async`, body, headers);
      expect(await ended(idOf(job))).toBe('success');
    }
    expect(await rowsOf(table)).toBe(6);
  });

  test('is refused when another request had the key', async () => {
    const { table, file } = await newTable('other');
    const at = `tables/${table}/import-async`;
    await running.call('POST', at, { dataFileId: file, incremental: true }, once('other'));
    const answer = await running.call('POST', at, { dataFileId: file, incremental: false }, once('other'));
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: 'storage.idempotency.otherRequest' });
  });

  test('is another one of another token', async () => {
    const made = await running.call('POST', 'tokens', { description: 'b', canManageBuckets: true });
    const { token } = made.body as { token: string };
    const body = { name: 'a.csv', federationToken: true };
    const mine = await running.call('POST', 'files/prepare', body, once('tokens'));
    const theirs = await running.call('POST', 'files/prepare', body, {
      ...once('tokens'),
      'x-storageapi-token': token,
    });
    expect(idOf(theirs.body)).not.toBe(idOf(mine.body));
  });

  test('prepares one file, and gives credentials each time', async () => {
    const ask = async () =>
      (await running.call('POST', 'files/prepare', { name: 'p.csv', federationToken: true }, once('file')))
        .body as { id: number; uploadParams: { credentials: { AccessKeyId: string } } };
    const [first, second] = [await ask(), await ask()];
    expect(second.id).toBe(first.id);
    expect(second.uploadParams.credentials.AccessKeyId).not.toBe('');
    await running.call('DELETE', `files/${first.id}`);
    const gone = await running.call(
      'POST',
      'files/prepare',
      { name: 'p.csv', federationToken: true },
      once('file'),
    );
    expect(gone.status).toBe(410);
  });

  test('makes one bucket and one configuration, with the same answer', async () => {
    for (const [path, body] of [
      ['buckets', { name: 'twice', stage: 'in' }],
      ['components/ex-generic-v2/configs', { name: 'one' }],
    ] as const) {
      const first = await running.call('POST', path, body, once(path));
      const second = await running.call('POST', path, body, once(path));
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.body).toEqual(first.body);
    }
  });

  test('that is late does not take a state back', async () => {
    const config = 'branch/default/components/ex-generic-v2/configs/states';
    await running.call('POST', 'components/ex-generic-v2/configs', { configurationId: 'states', name: 's' });
    await running.call('PUT', `${config}/state`, { state: { n: 1 } }, once('state 1'));
    await running.call('PUT', `${config}/state`, { state: { n: 2 } }, once('state 2'));
    await running.call('PUT', `${config}/state`, { state: { n: 1 } }, once('state 1'));
    expect((await running.call('GET', config)).body).toMatchObject({ state: { n: 2 } });
  });

  test('that was refused may be tried again', async () => {
    const body = { name: 'late', stage: 'in', displayName: 'x y' };
    const refused = await running.call('POST', 'buckets', body, once('refused'));
    expect(refused.status).toBe(400);
    expect((await running.call('POST', 'buckets', body, once('refused'))).body).toMatchObject({
      code: (refused.body as { code: string }).code,
    });
  });

  test('does not leave a secret in the database', async () => {
    const body = { description: 'secret' };
    const first = await running.call('POST', 'tokens', body, once('token'));
    expect(first.status).toBe(201);
    await running.call('POST', 'files/prepare', { name: 'x', federationToken: true }, once('credentials'));
    const meta = await metaOf(running.dir);
    const kept = await meta.selectFrom('request_keys').selectAll().execute();
    await meta.destroy();
    expect(JSON.stringify(kept)).not.toContain((first.body as { token: string }).token);
    expect(JSON.stringify(kept)).not.toContain('SecretAccessKey');
  });

  test('is remembered by a service that was started again', async () => {
    const first = createService(await placeOf(`${running.dir}/restarted`));
    const { masterToken = '' } = await first.start();
    const ask = async (service: Service): Promise<unknown> => {
      const answer = await service.fetch('http://storage.invalid/v2/storage/files/prepare', {
        method: 'POST',
        headers: {
          'X-StorageApi-Token': masterToken,
          'Content-Type': 'application/json',
          ...once('restart'),
        },
        body: '{"name":"a"}',
      });
      return await answer.json();
    };
    const before = idOf(await ask(first));
    await first.stop();
    const second = createService(await placeOf(`${running.dir}/restarted`));
    await second.start();
    expect(idOf(await ask(second))).toBe(before);
    await second.stop();
  });

  test('that carries a file is refused: its bytes are not compared', async () => {
    const body = { dataString: 'id\n1\n', name: 'direct' };
    const answer = await running.call('POST', 'buckets/in.c-main/tables', body, once('direct'));
    expect(answer.body).toMatchObject({ code: 'storage.idempotency.notSupported' });
  });

  test.each(['', 'x'.repeat(256)])('must have a key of a decent length: %j', async (key) => {
    expect((await running.call('POST', 'tickets', undefined, once(key))).status).toBe(400);
  });
});
