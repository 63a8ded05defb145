import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CompiledQuery } from 'kysely';
import { createService, type Service } from '../../src/service/start/service.ts';
import { isOnPostgres, metaOf, placeOf } from './database.ts';
import { anyText, startService, type Running } from './harness.ts';

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

/** Runs work while no answer can be kept, as if the service were killed whenever it has made a change. */
async function losingAnswers(work: () => Promise<void>): Promise<void> {
  const meta = await metaOf(running.dir);
  const run = async (...statements: readonly string[]): Promise<void> => {
    for (const statement of statements) await meta.executeQuery(CompiledQuery.raw(statement));
  };
  try {
    await (isOnPostgres
      ? run(
          `create function gex.lose() returns trigger language plpgsql as $$ begin raise exception 'lost'; end $$`,
          `create trigger lose before update on gex.request_keys for each row execute function gex.lose()`,
        )
      : run(`create trigger lose before update on request_keys begin select raise(abort, 'lost'); end`));
    await work();
  } finally {
    await (isOnPostgres ? run(`drop function gex.lose cascade`) : run('drop trigger lose'));
    await meta.destroy();
  }
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
    const prepare = async () =>
      await running.call('POST', 'files/prepare', { name: 'p.csv', federationToken: true }, once('file'));
    const answers = [await prepare(), await prepare()];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    const [first, second] = answers.map(
      ({ body }) => body as { id: number; uploadParams: { credentials: { AccessKeyId: string } } },
    );
    if (first === undefined || second === undefined) throw new Error('There are two answers.');
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

  const CONFIGS = 'components/ex-generic-v2/configs';
  const ANSWERLESS: readonly (readonly [string, string, unknown, number, object?])[] = [
    ['POST', CONFIGS, { name: 'k', configurationId: 'k' }, 201, { id: 'k', version: 1 }],
    ['POST', CONFIGS, { name: 'unnamed' }, 201, { name: 'unnamed', version: 1 }],
    ['PUT', `${CONFIGS}/k`, { configuration: { n: 1 } }, 200, { version: 2, configuration: { n: 1 } }],
    ['PUT', `branch/default/${CONFIGS}/k/state`, { state: { n: 2 } }, 200, { version: 2, state: { n: 2 } }],
    ['POST', `${CONFIGS}/k/rows`, { name: 'row' }, 201, { name: 'row', version: 1 }],
    ['POST', `${CONFIGS}/k/rows`, { name: 'r', rowId: 'r' }, 201, { id: 'r', version: 1 }],
    ['PUT', `${CONFIGS}/k/rows/r`, { name: 'other' }, 200, { name: 'other', version: 2 }],
    ['PUT', `branch/default/${CONFIGS}/k/rows/r/state`, { state: { n: 3 } }, 200, { state: { n: 3 } }],
    ['POST', `${CONFIGS}/k/versions/1/create`, { name: 'copy' }, 201, { id: anyText }],
    [
      'POST',
      `${CONFIGS}/k/metadata`,
      { metadata: [{ key: 'a', value: '1' }] },
      201,
      [{ key: 'a', value: '1' }],
    ],
    ['POST', `${CONFIGS}/k/schedules`, { cron: '@daily' }, 201, { cron: '@daily' }],
    ['POST', 'buckets', { name: 'answerless', stage: 'in' }, 201, { id: 'in.c-answerless' }],
    ['PUT', 'buckets/in.c-answerless', { displayName: 'shown' }, 200, { displayName: 'shown' }],
    [
      'POST',
      'buckets/in.c-answerless/metadata',
      { provider: 'me', metadata: [{ key: 'b', value: '2' }] },
      201,
      [{ key: 'b', value: '2' }],
    ],
    ['DELETE', `${CONFIGS}/k/rows/r`, undefined, 204],
    ['DELETE', `${CONFIGS}/k`, undefined, 204],
  ];

  test('that was done and never answered gets its answer when it comes again, and is not done again', async () => {
    for (const [index, [method, path, body, status, shown]] of ANSWERLESS.entries()) {
      const ask = async () => await running.call(method, path, body, once(`answerless ${index}`));
      await losingAnswers(async () => {
        expect([path, (await ask()).status]).toEqual([path, 500]);
      });
      const again = await ask();
      expect([path, again.status, again.headers.get('idempotency-replayed')]).toEqual([path, status, 'true']);
      if (shown === undefined) expect(again.text).toBe('');
      else expect(again.body).toMatchObject(shown);
      expect((await ask()).text).toBe(again.text);
    }
    const { body } = await running.call('GET', `${CONFIGS}?isDeleted=true`);
    // Made, changed, a row added twice, changed and deleted, and at last deleted itself: each once.
    expect(body).toMatchObject([{ id: 'k', version: 7 }]);
    const all = (await running.call('GET', CONFIGS)).body as { name: string }[];
    expect(all.filter(({ name }) => ['unnamed', 'copy'].includes(name))).toHaveLength(2);
    const { body: found } = await running.call('GET', 'buckets/in.c-answerless');
    expect(found).toMatchObject({ metadata: [{ key: 'b', value: '2' }] });
  });

  test('that made a secret is not given another one when it comes again', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 2; n++)
      statuses.push((await running.call('POST', 'tokens', { description: 'x' }, once('lost token'))).status);
    expect(statuses).toEqual([201, 409]);
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
