import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../../../src/lib/log.ts';
import { bytesBody, StorageClient } from '../../../../src/storage/client/index.ts';
import { openDatabase } from '../../../../src/service/platform/database/database.ts';
import { createPostgresEngine } from '../../../../src/service/stores/tables/postgres/engine.ts';
import { isOnPostgres } from '../../database.ts';
import { containing } from '../../harness.ts';
import { ask, share, type Shared } from './shared.ts';

const withKey = (text: string) => ({ environment: { GEX_ENCRYPTION_KEY: text } });

describe.runIf(isOnPostgres)('several processes over one database', () => {
  let shared: Shared;
  beforeEach(async () => {
    shared = await share();
  });
  afterEach(async () => await shared.stop());

  const CONFIG = 'components/ex-generic-v2/configs/shop';

  test('that start at once make the tables and the first token once', async () => {
    const { database = { url: '' } } = shared.options;
    const fresh = { database: { ...database, schema: 'another' } };
    const started = await Promise.all([1, 2, 3, 4].map(async () => await shared.start(fresh)));
    const tokens = started.flatMap(({ addresses }) => addresses.masterToken ?? []);
    expect(tokens).toHaveLength(1);
    for (const { addresses } of started)
      expect((await ask(addresses.url, tokens[0] ?? '', 'GET', 'tokens/verify')).status).toBe(200);
  });

  test('give the versions of a configuration that all change at once no gap', async () => {
    const [a, b] = [await shared.start(), await shared.start()];
    const token = a.addresses.masterToken ?? '';
    const urls = [a.addresses.url, b.addresses.url];
    await ask(urls[0] ?? '', token, 'POST', 'components/ex-generic-v2/configs', {
      name: 'Shop',
      configurationId: 'shop',
    });
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const path = n % 3 === 0 ? `${CONFIG}/rows` : CONFIG;
        const method = n % 3 === 0 ? 'POST' : 'PUT';
        const body = n % 3 === 0 ? { rowId: `r${n}`, name: 'row' } : { configuration: { n } };
        return await ask(urls[n % 2] ?? '', token, method, path, body);
      }),
    );
    expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
    const { body } = await ask(urls[1] ?? '', token, 'GET', `${CONFIG}/versions?limit=1000`);
    const versions = (body as { version: number }[]).map(({ version }) => version);
    expect(versions).toEqual(Array.from({ length: 61 }, (_, n) => 61 - n));
    const events = await ask(urls[0] ?? '', token, 'GET', 'events?limit=200&q=event:storage.component*');
    expect((events.body as unknown[]).length).toBe(61);
  });

  test('do a request with one Idempotency-Key once', async () => {
    const [a, b] = [await shared.start(), await shared.start()];
    const token = a.addresses.masterToken ?? '';
    for (let round = 0; round < 5; round++) {
      const headers = { 'Idempotency-Key': `bucket ${round}` };
      const body = { name: `b${round}`, stage: 'in' };
      const answers = await Promise.all(
        Array.from({ length: 6 }, async (_, n) => {
          const { url } = (n % 2 === 0 ? a : b).addresses;
          let answer = await ask(url, token, 'POST', 'buckets', body, headers);
          while (answer.status === 409) answer = await ask(url, token, 'POST', 'buckets', body, headers);
          return answer;
        }),
      );
      for (const { status, body: answered } of answers)
        expect([status, answered]).toEqual([201, answers[0]?.body]);
    }
    const { body } = await ask(b.addresses.url, token, 'GET', 'buckets');
    expect((body as unknown[]).length).toBe(5);
  });

  test('share their work by roles: what one is asked for another does', async () => {
    const api = await shared.start({ roles: ['api'] });
    const { url } = api.addresses;
    const token = api.addresses.masterToken ?? '';
    await ask(url, token, 'POST', 'buckets', { name: 'main' });
    const { status, body } = await ask(url, token, 'DELETE', 'buckets/in.c-main?async=1');
    expect(status).toBe(202);
    const { id } = body as { id: number };
    expect((await ask(url, token, 'GET', `jobs/${id}`)).body).toMatchObject({ status: 'waiting' });
    const worker = await shared.start({ roles: ['worker'] });
    expect(worker.addresses).toEqual({ url: '', parts: {} });
    await expect
      .poll(async () => (await ask(url, token, 'GET', `jobs/${id}`)).body)
      .toMatchObject({ status: 'success' });
  });

  test('load a file once of which a process of the version before has loaded the rows, and not said so', async () => {
    const api = await shared.start({ roles: ['api'] });
    const { url, masterToken: token = '' } = api.addresses;
    const first = await shared.start({ roles: ['worker'] });
    const client = new StorageClient({ url, token });
    await client.buckets.create({ name: 'main', stage: 'in' });
    const upload = async (name: string) =>
      await client.files.upload(bytesBody(Buffer.from('id\n1\n')), { name: `${name}.csv` });
    const names = ['killed', 'other', 'untouched'];
    for (const name of names) await client.tables.define('in.c-main', { name, columns: ['id'] });
    await first.service.stop();
    const database = await openDatabase(shared.options.database ?? { url: '' }, silentLog);
    onTestFinished(async () => await database.close());
    const engine = createPostgresEngine({ ...database, log: silentLog });
    await engine.open();
    const { id: branch } = (await client.branches.list())[0] ?? { id: 0 };
    for (const name of names) {
      const file = await upload(name);
      const body = { dataFileId: file.id, incremental: true };
      const asked = await ask(url, token, 'POST', `tables/in.c-main.${name}/import-async`, body);
      const { id } = asked.body as { id: number };
      if (name === 'untouched') continue;
      // Tables knew imports by the numbers of jobs; the worker was killed before the job had ended.
      const mark = name === 'killed' ? `job ${id}` : `job ${id + 1}`;
      const request = { importedAt: new Date(), incremental: true, isSliced: false, mark };
      const slices = Readable.from([Readable.from([Buffer.from('id\n1\n')])]);
      await engine.import({ bucket: `${branch}/in.c-main`, table: name }, request, slices);
      await database.pool.query('update gex.jobs set attempt = 1, fencing = 2 where id = $1', [id]);
    }
    await shared.start({ roles: ['worker'] });
    const rowsOf = async (name: string) => (await client.tables.detail(`in.c-main.${name}`)).rowsCount;
    await expect.poll(async () => await Promise.all(names.map(rowsOf))).toEqual([1, 2, 1]);
    client.close();
  });

  test('have one encryption key, which may be changed one process after the other', async () => {
    const key = shared.options.environment?.['GEX_ENCRYPTION_KEY'] ?? '';
    const other = Buffer.alloc(32, 7).toString('base64');
    await expect(shared.start({ environment: {} })).rejects.toMatchObject({
      code: 'encryption.noKey',
      hint: containing('openssl rand -base64 32'),
    });
    await shared.start();
    await expect(shared.start(withKey(other))).rejects.toMatchObject({ code: 'encryption.otherKey' });
    await shared.start(withKey(`${other},${key}`));
    // This process could not read values that are encrypted from now on.
    await expect(shared.start()).rejects.toMatchObject({ code: 'encryption.otherKey' });
    await shared.start(withKey(other));
  });

  test('have one place for files', async () => {
    await shared.start();
    const { objects } = shared.options;
    if (objects === undefined) throw new Error('There are objects.');
    await expect(shared.start({ objects: { ...objects, bucket: 'other' } })).rejects.toMatchObject({
      code: 'database.otherFiles',
    });
  });

  test('are not told of what needs a folder for one of them', async () => {
    const { database } = shared.options;
    if (database === undefined) throw new Error('There is a database.');
    await expect(shared.start({ roles: ['api'], dir: '/nowhere' })).rejects.toMatchObject({
      code: 'command.invalid',
    });
  });
});
