import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openStorage, type OpenOptions } from '../../../src/service/open/index.ts';
import { ExtractorError } from '../../../src/lib/errors.ts';
import type { Log } from '../../../src/lib/log.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { bytesBody } from '../../../src/storage/client/index.ts';
import { createService } from '../../../src/service/start/service.ts';
import { startService } from '../harness.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-open-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const newPath = (): string => path.join(folder, `storage-${++count}`);

function options(
  storage: string,
  more: Partial<OpenOptions> = {},
): OpenOptions & { readonly lines: string[] } {
  const lines: string[] = [];
  const add = (message: string): number => lines.push(message);
  const log: Log = { debug: add, info: add, warn: add, error: add };
  const signal = new AbortController().signal;
  return { storage, environment: {}, log, signal, purpose: 'try it', lines, ...more };
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

describe('a folder', () => {
  test('is made by the first use and found again by the second, with the same project and tokens', async () => {
    const dir = newPath();
    const secrets = new Secrets();
    const first = await openStorage(options(dir, { secrets }));
    expect(first).toMatchObject({ address: dir, isLocal: true, token: { projectId: '1', isMaster: true } });
    expect(first.project).toMatch(/^1@\d{4}-\d\d-\d\dT/);
    expect(first.encryptionKeys).toHaveLength(1);
    const file = await first.client.files.upload(bytesBody('id\n1\n'), { name: 'a.csv' });
    await first.client.buckets.create({ name: 'main' });
    await first.client.tables.create('in.c-main', { name: 'a', dataFileId: file.id });
    await first.close();

    const second = await openStorage(options(dir, { environment: { KBC_TOKEN: 'of something else' } }));
    expect(second.project).toBe(first.project);
    expect(second.token.id).toBe(first.token.id);
    expect(second.encryptionKeys).toEqual(first.encryptionKeys);
    expect(await second.client.tables.detail('in.c-main.a')).toMatchObject({ rowsCount: 1 });
    expect((await second.client.tokens.list()).map(({ description }) => description)).toEqual([
      'Commands on this machine',
    ]);
    await second.close();
    expect(existsSync(path.join(dir, 'service.json'))).toBe(false);
  });

  test('that was to be a lake, and cannot be one on this machine, is not decided as one', async () => {
    const dir = newPath();
    const environment = { GEX_DUCKDB_EXTENSIONS: '/no/such' };
    expect(await failure(options(`lake:${dir}`, { environment }))).toMatchObject({ code: 'lake.extension' });
    const opened = await openStorage(options(dir, { environment }));
    const file = await opened.client.files.upload(bytesBody('id\n1\n'), { name: 'a.csv' });
    await opened.client.buckets.create({ name: 'main' });
    await opened.client.tables.create('in.c-main', { name: 'a', dataFileId: file.id });
    await opened.close();
    expect(existsSync(path.join(dir, 'tables', 'tables.duckdb'))).toBe(true);
    const late = await failure(options(`lake:${dir}`, { environment }));
    expect(late).toMatchObject({
      code: 'lake.elsewhere',
      hint: expect.stringContaining('“lake:”') as string,
    });
  });

  test('leaves the first master token for the first start of a service', async () => {
    const dir = newPath();
    await (await openStorage(options(dir))).close();
    const service = createService({ dir });
    expect((await service.start()).masterToken).toMatch(/^1-\d+-/);
    await service.stop();
  });

  test('in use by a service is used through it, and outlives the command', async () => {
    const running = await startService({ dir: newPath() });
    const { dir, addresses, service } = running;
    const given = options(dir);
    const opened = await openStorage(given);
    expect(opened).toMatchObject({ address: dir, isLocal: true, token: { isMaster: true } });
    expect(opened.encryptionKeys).toHaveLength(1);
    expect(given.lines.join('\n')).toContain(addresses.url);
    await opened.client.buckets.create({ name: 'main' });
    await opened.close();
    // Closing it leaves the service alone.
    expect((await service.fetch(`${addresses.url}/health`)).status).toBe(200);
    await running.stop();
  });

  test('in use by another command is waited for, then told', { tags: 'thorough' }, async () => {
    const dir = newPath();
    const first = await openStorage(options(dir));
    // Longer than an attempt may take on a busy machine.
    const given = options(dir, { patienceMs: 3000 });
    expect(await failure(given)).toMatchObject({
      code: 'run.locked',
      message: expect.stringContaining(`process ${process.pid}`) as unknown,
    });
    expect(given.lines.filter((line) => line.startsWith('Waiting to try it'))).toHaveLength(1);
    const later = openStorage(options(dir));
    await first.close();
    const second = await later;
    expect(second.project).toBe(first.project);
    await second.close();
  });

  test('left by a killed process is free', { tags: 'thorough' }, async () => {
    const dir = newPath();
    const program = `import { openStorage } from './src/service/open/index.ts';
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      const signal = new AbortController().signal;
      const opened = await openStorage({ storage: ${JSON.stringify(dir)}, environment: {}, log, signal, purpose: 'x' });
      console.log(opened.project);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(path.join(dir, 'service.json'))).toBe(true);
    const opened = await openStorage(options(dir));
    expect(opened.project).toBe(line.toString().trim());
    await opened.close();
  });

  test('that its service does not answer for is named with a way out', async () => {
    const running = await startService({ dir: newPath() });
    const { dir } = running;
    const other = await serve((_request, response) =>
      response.writeHead(401, JSON_TYPE).end('{"error":"no"}'),
    );
    writeFileSync(
      path.join(dir, 'service.json'),
      JSON.stringify({ pid: 7, host: 'elsewhere', since: '', address: other.url }),
    );
    const error = await failure(options(dir, { patienceMs: 100 }));
    expect(error).toMatchObject({ code: 'run.locked' });
    expect(error.message).toContain(`process 7 on elsewhere, but ${other.url} does not answer`);
    expect(error.hint).toContain('KBC_TOKEN');
    other.close();
    await running.stop();
  });

  test('that is no storage is refused, and stays as it is', async () => {
    const dir = newPath();
    mkdirSync(dir);
    expect(await failure(options(dir, { mustExist: true }))).toMatchObject({ code: 'command.invalid' });
    writeFileSync(path.join(dir, 'config.json'), '{}');
    const error = await failure(options(dir));
    expect(error.code).toBe('command.invalid');
    expect(error.message).toContain('it holds config.json, and no meta.sqlite');
    expect(readdirSync(dir)).toEqual(['config.json']);
  });

  test('that is not there is refused by those who only look', async () => {
    const dir = newPath();
    const error = await failure(options(dir, { mustExist: true }));
    expect(error.message).toContain('is not there');
    expect(error.hint).toContain('gex serve');
    expect(existsSync(dir)).toBe(false);
  });

  test('that is a file, or has one in its path, is refused', async () => {
    const file = newPath();
    writeFileSync(file, '');
    expect((await failure(options(file))).message).toContain('is a file');
    expect((await failure(options(path.join(file, 'below')))).message).toContain(
      'a part of its path is a file',
    );
  });

  test('with a broken database says so', async () => {
    const dir = newPath();
    mkdirSync(dir);
    writeFileSync(
      path.join(dir, 'meta.sqlite'),
      'no database at all, but long enough to be looked at. '.repeat(30),
    );
    const error = await failure(options(dir));
    expect(error.message).toContain('file is not a database');
  });
});

describe('an address', () => {
  test('with a good token is connected, and the token reaches no log', async () => {
    const running = await startService({ dir: newPath() });
    const { addresses, token } = running;
    const secrets = new Secrets();
    const given = options(`${addresses.url}/`, { environment: { KBC_TOKEN: ` ${token}\n` }, secrets });
    const opened = await openStorage(given);
    expect(opened).toMatchObject({
      address: addresses.url,
      isLocal: false,
      encryptionKeys: undefined,
      token: { description: 'Master token', projectName: 'My project' },
    });
    expect(await opened.client.buckets.list()).toEqual([]);
    await opened.close();
    expect(given.lines.join('\n')).not.toContain(token);
    expect(secrets.redact(`a ${token} b`)).toBe('a *** b');
    await running.stop();
  });

  test('with a wrong token, and with none, says what to do', async () => {
    const running = await startService({ dir: newPath() });
    const { addresses } = running;
    const wrong = await failure(options(addresses.url, { environment: { KBC_TOKEN: '1-2-hunter2' } }));
    expect(wrong).toMatchObject({ code: 'storage.unauthorized' });
    expect(wrong.message).not.toContain('hunter2');
    const none = await failure(options(addresses.url));
    expect(none).toMatchObject({ code: 'storage.unauthorized' });
    expect(none.hint).toContain('KBC_TOKEN');
    await running.stop();
  });

  const JUNK: readonly [string, RequestListener, string][] = [
    [
      'a page',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      'a page of HTML',
    ],
    ['404', (_, response) => response.writeHead(404, JSON_TYPE).end('{"error":"no such page"}'), 'with 404'],
    ['other JSON', (_, response) => response.writeHead(200, JSON_TYPE).end('{"hello":1}'), 'has no '],
    [
      'a token without a project',
      (_, response) => response.writeHead(200, JSON_TYPE).end('{"id":"1","description":""}'),
      'which project',
    ],
  ];
  test.each(JUNK)('that answers with %s is no storage', async (_, listener, message) => {
    const { url, close } = await serve(listener);
    const error = await failure(options(url, { environment: { KBC_TOKEN: 't' } }));
    expect(error.code).toBe('storage.unexpected');
    expect(error.message).toContain(message);
    close();
  });

  test('where nobody listens fails after three attempts', async () => {
    const { url, close } = await serve(() => {});
    close();
    const waits: number[] = [];
    const env = {
      now: () => Date.now(),
      randomBytes: (size: number) => new Uint8Array(size),
      sleep: (waitMs: number) => Promise.resolve(void waits.push(waitMs)),
    };
    const error = await failure(options(url, { environment: { KBC_TOKEN: 't' }, env }));
    expect(error.code).toBe('storage.unreachable');
    expect(error.hint).toContain('Check the address');
    expect(waits).toHaveLength(2);
    expect(Math.max(...waits)).toBeLessThan(5000);
  });

  test('that takes a request and never answers is given up', async () => {
    const { url, close } = await serve(() => {});
    const error = await failure(options(url, { environment: { KBC_TOKEN: 't' }, patienceMs: 200 }));
    expect(error).toMatchObject({ code: 'storage.unreachable' });
    expect(error.message).toContain('has not answered within 0.2 seconds');
    close();
  });

  test('without http:// is not taken for a folder', async () => {
    for (const storage of ['localhost:8080', 'ftp://localhost', 's3://bucket/x']) {
      const error = await failure(options(storage));
      expect(error.code).toBe('command.invalid');
      expect(error.hint).toContain('http://');
      expect(existsSync(storage)).toBe(false);
    }
  });
});

const JSON_TYPE = { 'content-type': 'application/json' };

async function serve(listener: RequestListener): Promise<{ url: string; close: () => void }> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
