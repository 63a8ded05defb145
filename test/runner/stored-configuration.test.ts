import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/storage/client/index.ts';
import { openStorage, type OpenStorage } from '../../src/service/open/index.ts';
import { silentLog } from '../../src/lib/log.ts';
import { dataFolder, filesOf, json, startApi, runHere, type Api, type Ended } from '../cli/support.ts';
import { anyNumber, startService, type Running } from '../service/harness.ts';
import { textOf } from '../storage/client/support.ts';

const COMPONENT = 'ex-generic-v2';

let storage: Running;
beforeAll(async () => {
  storage = await startService();
});
afterAll(async () => await storage.stop());

/** Three events a run for each endpoint, numbered through; `since` is what the run asks for. */
async function eventsApi(): Promise<Api> {
  const counts = new Map<string, number>();
  return await startApi(({ url }, response) => {
    const from = counts.get(url.pathname) ?? 0;
    counts.set(url.pathname, from + 3);
    const since = url.searchParams.get('since') === '0' ? 'first' : 'later';
    json(
      response,
      [1, 2, 3].map((i) => ({ id: from + i, since })),
    );
  });
}

async function createConfiguration(id: string, api: Api, more: object = {}): Promise<void> {
  const configuration = {
    parameters: {
      api: { baseUrl: api.url, retryConfig: { maxRetries: 0 } },
      config: { outputBucket: 'events', incrementalOutput: true, '#password': 'open sesame' },
    },
    ...more,
  };
  const body = { configurationId: id, name: 'Events', configuration };
  expect((await storage.call('POST', `components/${COMPONENT}/configs`, body)).status).toBe(201);
}

async function createRow(id: string, rowId: string, more: object = {}): Promise<void> {
  const params = { since: { time: 'previousStart' } };
  const configuration = {
    parameters: { config: { jobs: [{ endpoint: rowId, dataType: `${id}_${rowId}`, params }] } },
  };
  const { status } = await storage.call('POST', `components/${COMPONENT}/configs/${id}/rows`, {
    rowId,
    name: rowId,
    configuration,
    ...more,
  });
  expect(status).toBe(201);
}

async function configuration(id: string): Promise<Configuration> {
  const { status, body } = await storage.call('GET', `components/${COMPONENT}/configs/${id}`);
  expect(status).toBe(200);
  return body as Configuration; // the service speaks the protocol
}

async function runStored(id: string, folder: string, ...more: string[]): Promise<Ended> {
  return await runAt(storage.addresses.url, id, folder, ...more);
}

async function runAt(url: string, id: string, folder: string, ...more: string[]): Promise<Ended> {
  const args = ['run', '--component', COMPONENT, '--config', id, '--storage', url];
  const env = { KBC_TOKEN: storage.token, GEX_ENCRYPTION_KEY_FILE: path.join(storage.dir, 'encryption.key') };
  return await runHere([...args, '--data', folder, ...more], { env });
}

async function withClient<T>(work: (storage: OpenStorage) => Promise<T>): Promise<T> {
  const opened = await openStorage({
    storage: storage.addresses.url,
    environment: { KBC_TOKEN: storage.token },
    log: silentLog,
    signal: new AbortController().signal,
    purpose: 'look',
  });
  return await work(opened).finally(() => opened.close());
}

/** A table with a column that the rows do not have, so that an import into it fails. */
async function defineUnfit(name: string): Promise<void> {
  await withClient(async ({ client }) => {
    if ((await client.buckets.find('in.c-events')) === undefined)
      await client.buckets.create({ name: 'events', stage: 'in' });
    await client.tables.define('in.c-events', { name, columns: ['id', 'since', 'missing'] });
  });
}

/** In front of the service: keeps the first change of a state, and answers it as a gateway that refuses. */
async function startKeeper(): Promise<{ readonly url: string; arrive(): Promise<number>; stop(): void }> {
  let kept: { readonly url: string; readonly init: RequestInit } | undefined;
  const server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request);
      const { host: _, 'content-length': __, connection: ___, ...given } = request.headers;
      const init = {
        method: request.method ?? 'GET',
        headers: given as Record<string, string>, // none comes twice here
        ...(body.length === 0 ? {} : { body }),
      };
      const url = `${storage.addresses.url}${request.url}`;
      if (kept === undefined && request.method === 'PUT' && url.endsWith('/state')) {
        kept = { url, init };
        response.writeHead(400).end('{"error":"no"}');
        return;
      }
      const answer = await fetch(url, init);
      const headers = [...answer.headers].filter(
        ([name]) => !/^(?:content-|transfer-|connection)/.test(name),
      );
      response.writeHead(answer.status, Object.fromEntries(headers)).end(await answer.text());
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    async arrive() {
      if (kept === undefined) throw new Error('no state was sent');
      return (await fetch(kept.url, kept.init)).status;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const rowsOf = async (table: string): Promise<string[]> =>
  await withClient(async ({ client }) =>
    (await textOf(await client.tables.read(table))).split('\n').filter(Boolean).toSorted(),
  );

describe('a configuration that the service keeps', () => {
  test('three rows, one disabled, run twice: tables, states, and no new version', async () => {
    const api = await eventsApi();
    await createConfiguration('whole', api);
    await createRow('whole', 'orders');
    await createRow('whole', 'old', { isDisabled: true });
    await createRow('whole', 'visits');
    await storage.call('PUT', `components/${COMPONENT}/configs/whole`, {
      rowsSortOrder: ['visits', 'old', 'orders'],
    });
    const before = await configuration('whole');
    const folder = dataFolder();

    const first = await runStored('whole', folder);
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain('in.c-events.whole_visits');
    expect(first.stderr).toContain('Row “old” is disabled and is skipped');
    const second = await runStored('whole', folder);
    expect(second).toMatchObject({ code: 0 });

    expect(api.seen.map((request) => request.replace(/since=\d\d+/, 'since=then'))).toEqual([
      'GET /visits?since=0',
      'GET /orders?since=0',
      'GET /visits?since=then',
      'GET /orders?since=then',
    ]);
    const expected = [1, 2, 3, 4, 5, 6].map((id) => `"${id}","${id < 4 ? 'first' : 'later'}"`);
    for (const table of ['in.c-events.whole_orders', 'in.c-events.whole_visits'])
      expect(await rowsOf(table)).toEqual(['"id","since"', ...expected].toSorted());

    const after = await configuration('whole');
    expect(after.version).toBe(before.version);
    expect(after.state).toEqual({});
    const states = Object.fromEntries(after.rows.map(({ id, state }) => [id, Object.keys(state as object)]));
    expect(states).toEqual({ visits: ['component'], old: [], orders: ['component'] });
    expect(after.rows[0]?.state).toMatchObject({ component: { time: { previousStart: anyNumber } } });
    expect(first.stdout + first.stderr + second.stderr).not.toContain('open sesame');
  });

  test('without rows the root has the state; `{}` begins anew', async () => {
    const api = await eventsApi();
    const jobs = [{ endpoint: 'plain', params: { since: { time: 'previousStart' } } }];
    await createConfiguration('plain', api, {
      parameters: { api: { baseUrl: api.url }, config: { outputBucket: 'plain', jobs } },
    });
    const folder = dataFolder();
    await runStored('plain', folder);
    await runStored('plain', folder);
    await storage.call('PUT', `components/${COMPONENT}/configs/plain/state`, { state: {} });
    expect(await runStored('plain', folder)).toMatchObject({ code: 0 });
    expect(api.seen.map((request) => request.endsWith('since=0'))).toEqual([true, false, true]);
  });

  test(
    'an import that fails ends the run: rows before it are complete, the next run goes on from there',
    { tags: 'thorough' },
    async () => {
      const api = await eventsApi();
      await createConfiguration('middle', api);
      await createRow('middle', 'a');
      await createRow('middle', 'b');
      await createRow('middle', 'c');
      await defineUnfit('middle_b');
      const folder = dataFolder();
      const failed = await runStored('middle', folder);
      expect(failed.code).toBe(1);
      expect(failed.stderr).toContain('in.c-events.middle_b');
      expect(failed.stderr).toContain('missing');
      expect(failed.stderr).toContain(`gex storage push ${folder}`);
      expect(api.seen).toHaveLength(2);
      const states = (await configuration('middle')).rows.map(({ state }) => Object.keys(state as object));
      expect(states).toEqual([['component'], [], []]);

      await withClient(async ({ client }) => {
        await client.tables.deleteColumn('in.c-events.middle_b', 'missing');
      });
      expect(await runStored('middle', folder)).toMatchObject({ code: 0 });
      expect(api.seen.map((request) => request.slice(5, 6))).toEqual(['a', 'b', 'c']);
      expect(await rowsOf('in.c-events.middle_b')).toHaveLength(4);
    },
  );

  test('the output of a failed push is pushed by hand, once, and its state follows', async () => {
    const api = await eventsApi();
    await createConfiguration('hand', api);
    await createRow('hand', 'a');
    await defineUnfit('hand_a');
    const folder = dataFolder();
    expect(await runStored('hand', folder)).toMatchObject({ code: 1 });
    await withClient(async ({ client }) => {
      await client.tables.deleteColumn('in.c-events.hand_a', 'missing');
    });
    const env = {
      KBC_TOKEN: storage.token,
      GEX_ENCRYPTION_KEY_FILE: path.join(storage.dir, 'encryption.key'),
    };
    const push = async (): Promise<Ended> => await runHere(['storage', 'push', folder], { env });
    expect(await push()).toMatchObject({ code: 0 });
    expect(await push()).toMatchObject({ code: 0 });
    expect(await rowsOf('in.c-events.hand_a')).toHaveLength(4);
    expect((await configuration('hand')).rows[0]?.state).toMatchObject({ component: { time: {} } });
    expect(
      JSON.parse(readFileSync(path.join(folder, 'rows', 'a', 'out', 'push.json'), 'utf8')),
    ).toMatchObject({ status: 'done' });
  });

  test(
    'a state that arrives late, from a push that was cut short, does not replace a newer one',
    { tags: 'thorough' },
    async () => {
      const api = await eventsApi();
      await createConfiguration('late', api);
      await createRow('late', 'a');
      const folder = dataFolder();
      const keeper = await startKeeper();
      try {
        expect(await runAt(keeper.url, 'late', folder)).toMatchObject({ code: 1 });
        const env = { KBC_TOKEN: storage.token };
        expect(await runHere(['storage', 'push', folder], { env })).toMatchObject({ code: 0 });
        await new Promise((resolve) => setTimeout(resolve, 1100)); // states are of whole seconds
        expect(await runStored('late', folder)).toMatchObject({ code: 0 });
        const newest = (await configuration('late')).rows[0]?.state;
        expect(await keeper.arrive()).toBe(200);
        expect((await configuration('late')).rows[0]?.state).toEqual(newest);
        expect(api.seen).toHaveLength(2);
      } finally {
        keeper.stop();
      }
    },
  );

  test('a stored state that is older than the one of the last run is told', async () => {
    const api = await eventsApi();
    await createConfiguration('older', api);
    await createRow('older', 'a');
    const folder = dataFolder();
    await runStored('older', folder);
    expect((await runStored('older', folder)).stderr).not.toContain('is older than');
    const rowState = `components/${COMPONENT}/configs/older/rows/a/state`;
    await storage.call('PUT', rowState, { state: { component: { time: { previousStart: 1000 } } } });
    const { code, stderr } = await runStored('older', folder);
    expect(code).toBe(0);
    expect(stderr).toContain('The stored state is older than the one that the last run from this folder');
    expect(api.seen.at(-1)).toBe('GET /a?since=1000');
  });

  test('a state that is not an object is refused before anything is asked for', async () => {
    const api = await eventsApi();
    await createConfiguration('odd', api);
    await createRow('odd', 'a', { state: [1, 2] });
    const { code, stderr } = await runStored('odd', dataFolder());
    expect(code).toBe(1);
    expect(stderr).toContain('The stored state is not an object.');
    expect(stderr).toContain('--reset');
    expect(api.seen).toEqual([]);
  });

  test.each([[[1, 2]], [{ component: {}, odd: 1 }]])(
    'the state %j is mended by --reset-state',
    async (state) => {
      const api = await eventsApi();
      const id = Array.isArray(state) ? 'mended-list' : 'mended-odd';
      await createConfiguration(id, api);
      await createRow(id, 'a', { state });
      const folder = dataFolder();
      expect(await runStored(id, folder)).toMatchObject({ code: 1 });
      expect(await runStored(id, folder, '--reset-state')).toMatchObject({ code: 0 });
      expect(await runStored(id, folder)).toMatchObject({ code: 0 });
      expect(Object.keys((await configuration(id)).rows[0]?.state as object)).toEqual(['component']);
    },
  );

  test('a row that is deleted while it runs is run as it was, and its state goes nowhere', async () => {
    const api = await startApi(({ url }, response) => {
      const gone =
        url.pathname === '/a' ? storage.call('DELETE', `components/${COMPONENT}/configs/cut/rows/b`) : 0;
      void Promise.resolve(gone).then(() => json(response, [{ id: 1, since: '' }]));
    });
    await createConfiguration('cut', api);
    for (const row of ['a', 'b', 'c']) await createRow('cut', row);
    const folder = dataFolder();
    const { code, stderr } = await runStored('cut', folder);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain('has been deleted: its state is not stored');
    expect(api.seen).toHaveLength(3);
    expect(await runStored('cut', folder)).toMatchObject({ code: 0 });
    expect(api.seen).toHaveLength(5);
  });

  test('an unfinished push of another configuration in the same folder is not taken for its own', async () => {
    const api = await eventsApi();
    const folder = dataFolder();
    for (const id of ['mine', 'other']) {
      await createConfiguration(id, api);
      await createRow(id, 'a');
    }
    const rows = `components/${COMPONENT}/configs/mine/rows/a`;
    const { body } = await storage.call('GET', rows);
    const output = { tables: [{ source: 'events.mine_a', destination: 'nowhere' }] };
    const mapped = { ...(body as { configuration: object }).configuration, storage: { output } };
    await storage.call('PUT', rows, { configuration: mapped });
    expect(await runStored('mine', folder)).toMatchObject({ code: 1 });

    const refused = await runStored('other', folder);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('it is of the stored configuration mine of ex-generic-v2');
    expect(refused.stderr).toContain(`gex storage push ${folder} --row a`);
    expect(api.seen).toHaveLength(1);
    expect((await configuration('other')).rows[0]?.state).toEqual({});

    // the configuration is gone, its output is not
    await storage.call('DELETE', `components/${COMPONENT}/configs/mine`);
    const env = { KBC_TOKEN: storage.token };
    const push = async (...more: string[]): Promise<Ended> =>
      await runHere(['storage', 'push', folder, ...more], { env });
    expect(await push('--row', 'a', '--row', 'b')).toMatchObject({ code: 1 });
    const pushed = await push();
    expect(pushed).toMatchObject({ code: 0 });
    expect(pushed.stderr).toContain('the manifests alone say where the outputs go');
    expect(await rowsOf('in.c-events.mine_a')).toHaveLength(4);
    // once more goes to where it had gone, and not into a folder of its own
    expect(await push('--again')).toMatchObject({ code: 0 });
    expect(await rowsOf('in.c-events.mine_a')).toHaveLength(7);
    expect(Object.keys(filesOf(folder)).filter((name) => name.startsWith('storage'))).toEqual([]);
    expect(await runStored('other', folder)).toMatchObject({ code: 0 });
  });

  test('one that is not there, or is disabled', async () => {
    const missing = await runStored('nowhere', dataFolder());
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('gex storage configs list ex-generic-v2');
    const api = await eventsApi();
    await createConfiguration('off', api);
    await storage.call('PUT', `components/${COMPONENT}/configs/off`, { isDisabled: true });
    const disabled = await runStored('off', dataFolder());
    expect(disabled.code).toBe(0);
    expect(disabled.stderr).toContain('The configuration is disabled');
    const asJson = await runStored('off', dataFolder(), '--json');
    expect(JSON.parse(asJson.stdout)).toEqual({ status: 'success', rows: [] });
    const missingAsJson = await runStored('nowhere', dataFolder(), '--json');
    expect(JSON.parse(missingAsJson.stdout)).toMatchObject({
      status: 'error',
      error: { code: 'storage.notFound' },
    });
    expect(api.seen).toEqual([]);
  });

  test('what is changed while it runs is told, and used by the next run', async () => {
    const api = await startApi(({ url }, response) => {
      const description = `changed at ${url.pathname}`;
      void storage
        .call('PUT', `components/${COMPONENT}/configs/changing`, { description })
        .then(() => json(response, [{ id: 1 }]));
    });
    await createConfiguration('changing', api);
    await createRow('changing', 'a');
    const { code, stderr } = await runStored('changing', dataFolder());
    expect(code).toBe(0);
    expect(stderr).toContain('The configuration was changed while it ran: it is at version 3 now');
  });

  test('nothing of it is written to the data folder but outputs', async () => {
    const api = await eventsApi();
    await createConfiguration('files', api);
    await createRow('files', 'a');
    const folder = dataFolder();
    await runStored('files', folder);
    expect(Object.keys(filesOf(folder)).toSorted()).toEqual([
      'rows/a/out/push.json',
      'rows/a/out/report.json',
      'rows/a/out/state.json',
      'rows/a/out/tables/events.files_a',
      'rows/a/out/tables/events.files_a.manifest',
    ]);
  });
});
