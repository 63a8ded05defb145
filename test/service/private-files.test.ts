import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { run } from '../../src/index.ts';
import { silentLog } from '../../src/lib/log.ts';
import { isOnPostgres } from './database.ts';
import { startService, type Running } from './harness.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'private-'));
  ends.push(async () => await rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  return folder;
}

/** Everything below a folder that others have rights to, and may reach. */
async function openTo(folder: string): Promise<string[]> {
  const { mode } = await stat(folder);
  if ((mode & 0o077) === 0) return [];
  const below = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    below.map(async (entry) => {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) return await openTo(file);
      return ((await stat(file)).mode & 0o077) === 0 ? [] : [file];
    }),
  );
  return [folder, ...found.flat()];
}

/** All files below a folder that others have rights to, reached or not. */
async function openFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (((await stat(file)).mode & 0o077) !== 0) found.push(path.relative(folder, file));
  }
  return found;
}

async function serve(dir: string, told: string[]): Promise<Running> {
  const log = { ...silentLog, info: (text: string) => void told.push(text) };
  const service = await startService({ dir, log });
  ends.push(async () => await service.service.stop());
  return service;
}

test('a storage folder is for its user alone, whatever the umask is, and one that was open is closed at the next start', async () => {
  const dir = path.join(await newFolder(), 'storage');
  const first = await serve(dir, []);
  const form = new FormData();
  form.append('data', new Blob(['id\n1\n']), 'data.csv');
  expect((await first.call('POST', '/upload-file', form)).status).toBe(200);
  await first.call('POST', 'buckets', { name: 'main', stage: 'in' });
  expect(
    (await first.call('POST', 'buckets/in.c-main/tables', { name: 't', dataString: 'id\n1\n' })).status,
  ).toBe(201);
  expect(await openTo(dir)).toEqual([]);
  // These the engine of the tables makes by itself, in folders that are closed.
  expect((await openFiles(dir)).filter((file) => !/\.duckdb|service\.lock/.test(file))).toEqual([]);
  await first.service.stop();

  // Over a database the folder has neither metadata nor tables.
  const opened = isOnPostgres
    ? { folders: ['', 'objects'], files: ['objects.secret'] }
    : {
        folders: ['', 'tables', 'objects'],
        files: ['meta.sqlite', 'objects.secret', 'tables/tables.duckdb'],
      };
  for (const open of opened.folders) await chmod(path.join(dir, open), 0o755);
  for (const open of opened.files) await chmod(path.join(dir, open), 0o644);
  const told: string[] = [];
  const second = await serve(dir, told);
  expect((await openFiles(dir)).filter((file) => !file.endsWith('.wal'))).toEqual([]);
  expect(told.filter((text) => text.includes('open to other users'))).toHaveLength(1);
  await second.service.stop();
  const again: string[] = [];
  await serve(dir, again);
  expect(again.filter((text) => text.includes('open to other users'))).toEqual([]);
});

test('a data folder keeps what runs remember for its user, and its output as the umask has it', async () => {
  const api = createServer((_request, response) =>
    response.setHeader('content-type', 'application/json').end('[{"id":1}]'),
  );
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
  ends.push(async () => await new Promise((resolve) => api.close(resolve)));
  const { port } = api.address() as { port: number }; // it listens on a port
  const data = await newFolder();
  const config = {
    parameters: {
      api: { baseUrl: `http://127.0.0.1:${port}/` },
      cache: true,
      config: { outputBucket: 'main', jobs: [{ endpoint: 'items', dataType: 'items' }] },
    },
  };
  await writeFile(path.join(data, 'config.json'), JSON.stringify(config));
  // As an earlier version left them; a service that this process has served has left it another umask.
  const umaskBefore = process.umask(0o022);
  ends.push(async () => void (await Promise.resolve(process.umask(umaskBefore))));
  for (const folder of ['.gex', 'cache', 'in']) await mkdir(path.join(data, folder));
  await writeFile(path.join(data, 'in', 'state.json'), '{}');
  const told: unknown[] = [];
  const log = { ...silentLog, info: (text: string, more?: object) => void told.push([text, more]) };
  await run({ dataFolder: data, log });
  const modeOf = async (name: string): Promise<number> => (await stat(path.join(data, name))).mode & 0o777;
  expect(await modeOf('.gex')).toBe(0o700);
  expect(await modeOf('cache')).toBe(0o700);
  expect(await modeOf('in/state.json')).toBe(0o600);
  expect(await modeOf('.gex/last.recording')).toBe(0o600);
  const umask = process.umask();
  const tables = await readdir(path.join(data, 'out', 'tables'));
  expect(tables).toHaveLength(2);
  for (const table of tables) expect(await modeOf(`out/tables/${table}`)).toBe(0o666 & ~umask);
  expect(await modeOf('out/tables')).toBe(0o777 & ~umask);
  expect(told).toContainEqual([
    expect.stringContaining('open to other users'),
    { files: ['.gex', 'cache', 'in/state.json'].map((name) => path.join(data, name)) },
  ]);
});
