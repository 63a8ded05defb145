import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ExtractorError } from '../../src/lib/errors.ts';
import type { Log } from '../../src/lib/log.ts';
import { Secrets } from '../../src/lib/secrets.ts';
import { openStorage, type OpenOptions } from '../../src/service/open/index.ts';
import { createService } from '../../src/service/start/service.ts';
import { bytesBody, type StorageClient } from '../../src/storage/client/index.ts';
import { MAIN } from '../support/command.ts';
import { databaseOf, forgetDatabase, isOnPostgres } from './database.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-database-storage-'));
let count = 0;
const places: string[] = [];

/** Returns the address of a database that nobody has used. */
async function newDatabase(): Promise<string> {
  const place = path.join(folder, `place-${++count}`);
  places.push(place);
  const options = await databaseOf(place);
  if (options === undefined) throw new Error('There is no server.');
  await query(options.url, 'drop schema if exists gex cascade');
  return options.url;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

function options(
  storage: string,
  more: Partial<OpenOptions> = {},
): OpenOptions & { readonly lines: string[] } {
  const lines: string[] = [];
  const add = (message: string, about?: object): number => lines.push(`${message} ${JSON.stringify(about)}`);
  const log: Log = { debug: add, info: add, warn: add, error: add };
  const signal = new AbortController().signal;
  return { storage, environment: {}, log, signal, purpose: 'try it', lines, patienceMs: 60_000, ...more };
}

async function failure(given: OpenOptions): Promise<ExtractorError> {
  try {
    await (await openStorage(given)).close();
  } catch (error) {
    if (error instanceof ExtractorError) return error;
    throw error;
  }
  throw new Error('It was opened.');
}

async function load(client: StorageClient, name: string, csv: string): Promise<void> {
  const { id } = await client.files.upload(bytesBody(csv), { name: `${name}.csv` });
  await client.tables.create('in.c-main', { name, dataFileId: id });
}

describe.skipIf(!isOnPostgres)('a storage that is a database', () => {
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(async () => {
    for (const place of places.splice(0)) await forgetDatabase(place);
  });

  test('needs no service: it is made by the first use, and found again with the same project and token', async () => {
    const url = await newDatabase();
    const first = await openStorage(options(url));
    expect(first).toMatchObject({
      isLocal: true,
      isServed: false,
      token: { projectId: '1', isMaster: true },
    });
    await first.client.buckets.create({ name: 'main' });
    await load(first.client, 'a', 'id,name\n1,x\n2,y\n');
    await first.close();
    const second = await openStorage(options(url));
    expect([second.project, second.token.id]).toEqual([first.project, first.token.id]);
    expect(await second.client.tables.detail('in.c-main.a')).toMatchObject({ rowsCount: 2 });
    const rows = [];
    for await (const piece of await second.client.tables.read('in.c-main.a')) rows.push(String(piece));
    expect(rows.join('')).toContain('"2","y"');
    await second.close();
    expect(await query(url, 'select id, name from gex_in_c_main.a order by id')).toEqual([
      { id: '1', name: 'x' },
      { id: '2', name: 'y' },
    ]);
  });

  test('several commands make it and work on it at once', async () => {
    const url = await newDatabase();
    const opened = await Promise.all([1, 2, 3].map(async () => await openStorage(options(url))));
    expect(new Set(opened.map(({ project, token }) => `${project} ${token.id}`)).size).toBe(1);
    await opened[0]?.client.buckets.create({ name: 'main' });
    await Promise.all(opened.map(async ({ client }, i) => await load(client, `t${i}`, `id\n${i}\n`)));
    await Promise.all(opened.map(async (storage) => await storage.close()));
    const counted = await query(url, 'select count(*)::int as n from gex.table_catalog');
    expect(counted).toEqual([{ n: 3 }]);
    expect(await query(url, 'select count(*)::int as n from gex.tokens')).toEqual([{ n: 1 }]);
  });

  test('is in the schema that its address names', async () => {
    const url = new URL(await newDatabase());
    url.searchParams.set('schema', 'shop');
    const opened = await openStorage(options(url.href));
    await opened.client.buckets.create({ name: 'main' });
    await load(opened.client, 'a', 'id\n1\n');
    await opened.close();
    expect(await query(url.href, 'select id from shop_in_c_main.a')).toEqual([{ id: '1' }]);
    const dbt = spawn(process.execPath, [MAIN, 'storage', 'dbt-sources', '--storage', url.href]);
    expect((await dbt.stdout.toArray()).join('')).toContain('schema: shop_in_c_main');
    expect(await failure(options(url.href.replace('shop', 'Other-one')))).toMatchObject({
      code: 'command.invalid',
    });
  });

  test('its password is in no address, message, log or journal', async () => {
    const url = new URL(await newDatabase());
    url.password = 'geh%40eim';
    const secrets = new Secrets();
    const given = options(url.href, { secrets });
    const opened = await openStorage(given);
    await opened.close();
    expect(opened.address).not.toMatch(/geh/);
    expect(given.lines.join('\n')).not.toMatch(/geh/);
    expect(secrets.redact('geh@eim and geh%40eim')).not.toMatch(/geh/);
    const gone = new URL(url);
    gone.pathname = '/there_is_no_such_database';
    const error = await failure(options(gone.href));
    expect(error).toMatchObject({ code: 'database.refused' });
    expect(JSON.stringify([error.message, error.where, error.hint])).not.toMatch(/geh/);
  });

  test('what stands in its way is one clear message', async () => {
    const url = await newDatabase();
    expect(await failure(options('postgres://127.0.0.1:1/none', { patienceMs: 100 }))).toMatchObject({
      code: 'database.unreachable',
    });
    expect(await failure(options(url, { mustExist: true }))).toMatchObject({
      code: 'command.invalid',
      message: expect.stringMatching(/has no storage yet/) as string,
    });
    expect(await query(url, "select to_regnamespace('gex') as there")).toEqual([{ there: null }]);
    expect(await failure(options(`lake:${url}`))).toMatchObject({
      code: 'command.invalid',
      hint: expect.stringMatching(/GEX_S3/) as string,
    });
    await (await openStorage(options(url))).close();
    await query(url, "insert into gex.kysely_migration (name, timestamp) values ('9999-later', '')");
    expect(await failure(options(url))).toMatchObject({ code: 'database.newer' });
  });

  test('an object store that cannot be used is told of before anything is stored', async () => {
    const url = await newDatabase();
    const store = createServer((_, response) => {
      response.writeHead(404, { 'content-type': 'application/xml' });
      response.end('<Error><Code>NoSuchBucket</Code><Message>There is no such one.</Message></Error>');
    }).listen(0, '127.0.0.1');
    await once(store, 'listening');
    const environment = {
      GEX_S3: `http://127.0.0.1:${(store.address() as AddressInfo).port}`,
      GEX_S3_BUCKET: 'files',
      GEX_S3_ROLE_ARN: 'arn:aws:iam:::role/files',
      GEX_S3_ACCESS_KEY: 'key',
      GEX_S3_SECRET_KEY: 'secret',
    };
    const wrong = await failure(options(`lake:${url}`, { environment }));
    store.close();
    expect(wrong.code).toBe('command.invalid');
    expect(wrong.message).toContain('The bucket “files” of the object store cannot be used');
    expect(wrong.message).toContain('NoSuchBucket');
    const away = await failure(
      options(`lake:${url}`, { environment: { ...environment, GEX_S3: 'http://127.0.0.1:1' } }),
    );
    expect(away.message).toContain('cannot be reached');
    expect(String(away.hint)).toContain('GEX_S3_BUCKET');
    // The right bucket is no other one, and a lake is no decision yet.
    expect(await query(url, "select to_regclass('gex.settings') as made")).toEqual([{ made: null }]);
  });

  test('a lake that cannot be opened, and processes without a key, are told of before anything is decided', async () => {
    const url = await newDatabase();
    const objects = {
      endpoint: 'http://127.0.0.1:1',
      bucket: 'files',
      region: 'us-east-1',
      roleArn: 'arn:aws:iam:::role/files',
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    };
    const given = { database: { url }, objects, tables: 'lake' } as const;
    await expect(createService({ ...given, environment: {} }).start()).rejects.toMatchObject({
      code: 'encryption.noKey',
    });
    expect(await query(url, "select to_regnamespace('gex') as there")).toEqual([{ there: null }]);
    const environment = {
      GEX_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      GEX_DUCKDB_EXTENSIONS: '/no/such',
    };
    await expect(createService({ ...given, environment }).start()).rejects.toMatchObject({
      code: 'lake.extension',
    });
    // Neither a lake nor the bucket is decided.
    const opened = await openStorage(options(url));
    await opened.client.buckets.create({ name: 'main' });
    await load(opened.client, 'a', 'id\n1\n');
    await opened.close();
    expect(await query(url, 'select id from gex_in_c_main.a')).toEqual([{ id: '1' }]);
  });

  test('a user who may make no schema is told so, and nothing is left', async () => {
    const url = new URL(await newDatabase());
    const name = url.pathname.slice(1);
    const role = `${name}_reader`;
    await query(url.href, `create role ${role} login`);
    await query(
      url.href,
      `revoke all on database ${name} from public; grant connect on database ${name} to ${role}`,
    );
    const theirs = new URL(url);
    theirs.username = role;
    expect(await failure(options(theirs.href))).toMatchObject({ code: 'database.refused' });
    expect(await query(url.href, "select to_regnamespace('gex') as there")).toEqual([{ there: null }]);
  });

  test('whose files a service keeps in a folder is refused, and gex serve goes on with one that has them itself', async () => {
    const served = await newDatabase();
    const dir = path.join(folder, 'served');
    const service = createService({ dir, database: { url: served } });
    await service.start();
    await service.stop();
    expect(await failure(options(served))).toMatchObject({
      code: 'database.otherFiles',
      hint: expect.stringMatching(/KBC_TOKEN/) as string,
    });

    const url = await newDatabase();
    const opened = await openStorage(options(url));
    const file = await opened.client.files.upload(bytesBody('id\n1\n'), { name: 'a.csv' });
    await opened.close();
    const later = createService({ dir: path.join(folder, 'later'), database: { url } });
    const { url: address } = await later.start();
    const token = await later.newToken();
    const through = await openStorage(options(address, { environment: { KBC_TOKEN: token } }));
    const copy = path.join(folder, 'copy.csv');
    await through.client.files.downloadTo(file.id, copy);
    expect(readFileSync(copy, 'utf8')).toBe('id\n1\n');
    await through.close();
    await later.stop();
  });

  test('keeps no secrets without a key', async () => {
    const opened = await openStorage(options(await newDatabase()));
    const configurations = opened.client.configurations('ex-generic-v2');
    const creating = configurations.create({ name: 'a', configuration: { '#token': 'plain' } });
    await expect(creating).rejects.toThrow(/GEX_ENCRYPTION_KEY/);
    await opened.close();
  });

  describe('with the command', () => {
    let api: Server;
    let data: string;
    beforeAll(async () => {
      api = createServer((_, response) => response.end('[{"id":"1"},{"id":"2"},{"id":"3"}]'));
      api.listen(0, '127.0.0.1');
      await once(api, 'listening');
      data = path.join(folder, 'data');
      mkdirSync(data);
      const { port } = api.address() as AddressInfo; // it listens on a port
      const config = { outputBucket: 'shop', incrementalOutput: true, jobs: [{ endpoint: 'orders' }] };
      const configuration = { parameters: { api: { baseUrl: `http://127.0.0.1:${port}/` }, config } };
      writeFileSync(path.join(data, 'config.json'), JSON.stringify(configuration));
    });
    afterAll(() => api.close());

    const start = (url: string, environment: Record<string, string> = {}) =>
      spawn(process.execPath, [MAIN, 'run', '--data', data, '--storage', url], {
        env: { ...process.env, ...environment },
      });

    const name = 'a run that is killed while it pushes is pushed to its end by the next one, once';
    test(name, { tags: 'thorough', timeout: 180_000 }, async () => {
      const url = new URL(await newDatabase());
      url.password = '$env:THEIR_PASSWORD';
      const storage = decodeURIComponent(url.href);
      const journal = path.join(data, 'out', 'push.json');
      const kept = (): string => (existsSync(journal) ? readFileSync(journal, 'utf8') : '');
      let runs = 0;
      const isKilled = async (): Promise<boolean> => {
        rmSync(journal, { force: true });
        const killed = start(storage, { THEIR_PASSWORD: 'geheim' });
        runs++;
        const ended = once(killed, 'exit');
        while (!kept().includes('"asked"') && killed.exitCode === null) await sleep(1);
        killed.kill('SIGKILL');
        await ended;
        return kept().includes('"pending"');
      };
      // One that had pushed all before it was looked at was killed for nothing.
      await expect.poll(isKilled, { timeout: 120_000 }).toBe(true);
      const next = start(storage, { THEIR_PASSWORD: 'geheim' });
      let said = '';
      for (const stream of [next.stdout, next.stderr])
        stream.on('data', (text: Buffer) => void (said += text.toString()));
      expect([await once(next, 'exit').then(([code]: unknown[]) => code), said]).toEqual([
        0,
        expect.stringMatching(/The last run was not pushed to its end: that is done first/),
      ]);
      const counted = 'select id, count(*)::int as n from gex_in_c_shop.orders group by id order by id';
      // The runs that were killed, and the one behind them.
      url.password = '';
      expect(await query(url.href, counted)).toEqual(['1', '2', '3'].map((id) => ({ id, n: runs + 1 })));
      const text = said + readFileSync(journal, 'utf8');
      expect(text).toContain('$env:THEIR_PASSWORD');
      expect(text).not.toContain('geheim');
    });
  });
});
