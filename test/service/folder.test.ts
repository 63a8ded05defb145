import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/lib/log.ts';
import { findHolder } from '../../src/service/stores/folder/lock.ts';
import { toServiceError } from '../../src/service/domain/service-error.ts';
import { createService } from '../../src/service/start/service.ts';
import { isOnPostgres } from './database.ts';
import { startService } from './harness.ts';

test(
  'a deleted lock file lets no second service in, and no command either',
  { tags: 'thorough' },
  async () => {
    const api = await startService();
    await rm(path.join(api.dir, 'service.lock'));
    expect(await findHolder(api.dir)).toMatchObject({ pid: process.pid, address: api.addresses.url });
    await rm(path.join(api.dir, 'service.lock'));
    await expect(createService({ dir: api.dir }).start()).rejects.toMatchObject({ code: 'run.locked' });
    await api.service.stop();
    const next = await startService({ dir: api.dir });
    await next.stop();
  },
);

// Only for the files of SQLite.
test.runIf(!isOnPostgres)('the metadata are for their user alone, also those of before', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'private-'));
  await writeFile(path.join(dir, 'meta.sqlite'), '', { mode: 0o644 });
  const api = await startService({ dir });
  for (const name of ['meta.sqlite', 'meta.sqlite-wal', 'meta.sqlite-shm'])
    expect((await stat(path.join(dir, name))).mode & 0o777).toBe(0o600);
  await api.stop();
});

test('that the service may not write is named, whether a file or the database says it', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'read-only-'));
  const file = path.join(dir, 'a.sqlite');
  new DatabaseSync(file).exec('create table t (a); ');
  const told: unknown[] = [];
  try {
    new DatabaseSync(file, { readOnly: true }).exec('insert into t values (1)');
  } catch (error) {
    told.push(toServiceError(error)?.code);
  }
  for (const code of ['EACCES', 'EROFS', 'EPERM']) {
    const cause = Object.assign(new Error('open'), { code, syscall: 'open', path: '/x' });
    told.push(
      toServiceError(cause)?.code,
      toServiceError(new Error('The object store failed', { cause }))?.code,
    );
  }
  expect(told).toEqual(Array.from({ length: 7 }, () => 'storage.notWritable'));
  expect(
    toServiceError(Object.assign(new Error('other'), { code: 'ENOENT', syscall: 'open' })),
  ).toBeUndefined();
  await rm(dir, { recursive: true });
});

test(
  'a service with half-sent uploads stops in its time, and says nothing of them',
  { tags: 'thorough' },
  async () => {
    const errors: unknown[] = [];
    const note = (text: string, fields?: unknown): void => void errors.push([text, fields]);
    const log = { ...silentLog, error: note, warn: note };
    const api = await startService({ log, graceMs: 200 });
    const begin = async (base: string, place: string, type: string, body: string): Promise<void> => {
      const { port, hostname } = new URL(base);
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      const headers = { Host: 'x', 'X-StorageApi-Token': api.token, 'Content-Type': type };
      const lines = Object.entries({ ...headers, 'Content-Length': 1000 }).map(([k, v]) => `${k}: ${v}\r\n`);
      socket.write(`POST ${place} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    };
    const form = 'multipart/form-data; boundary=x';
    const part = '--x\r\nContent-Disposition: form-data; name="data"; filename="a.csv"\r\n\r\nid\n1\n';
    await begin(api.addresses.url, '/upload-file', form, part);
    await begin(api.addresses.parts['importer'] ?? '', '/upload-file', form, part);
    await begin(api.addresses.url, '/v2/storage/buckets', 'application/json', '{"name":');
    await new Promise((resolve) => setTimeout(resolve, 300));
    // It would wait for the rest of them for ever.
    await api.stop();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(errors).toEqual([]);
  },
);
